import AppStore
import Cryptography
import ServiceRuntime

/// Judges JWS of the App Store: their proof, and by the deployment's policy whether their certificates still stand.
struct RevocationCheckedVerifier: Sendable {
  private static let metric = "attribution_revocation_total"

  let verifier: SignedDataVerifier
  private let checker: RevocationChecker
  private let metrics: MetricsRegistry

  init(verifier: SignedDataVerifier, checker: RevocationChecker, metrics: MetricsRegistry) {
    self.verifier = verifier
    self.checker = checker
    self.metrics = metrics
    metrics.counter(Self.metric, help: "Chains whose revocation was asked about.", labels: ["decision"])
  }

  /// Whether anybody is asked about certificates: otherwise a verdict is computed and waits for nothing.
  var asksResponders: Bool { checker.policy != .off }

  /// The verdict without the question of revocation.
  func offlineVerdict(on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation, now: Int64) -> SignedDataVerdict {
    verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now)
  }

  /// What is to be said without waiting for anybody.
  enum ImmediateVerdict: Sendable {
    case verdict(SignedDataVerdict)
    /// It is verified, and a responder must be asked whether its certificates still stand: `ask` ends when that is known, or is known not to
    /// be had now.
    case open(ask: @Sendable () async -> Void)
  }

  /// The whole verdict. Only what is verified is asked about: a forger makes us ask nobody.
  func verdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) async -> SignedDataVerdict {
    var chains: [VerifiedChain] = []
    var verdict = verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
    guard verdict.valid, asksResponders else { return verdict }
    for chain in chains where verdict.valid {
      apply(await checker.revocation(of: chain, at: now / 1000).decision, to: &verdict)
    }
    return verdict
  }

  /// The same from what is known already.
  func judgement(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) -> ImmediateVerdict {
    var chains: [VerifiedChain] = []
    var verdict = verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
    guard verdict.valid, asksResponders else { return .verdict(verdict) }
    for (place, chain) in chains.enumerated() where verdict.valid {
      guard let known = checker.known(of: chain, at: now / 1000) else {
        return .open { [checker, open = chains[place...]] in
          for chain in open { _ = await checker.revocation(of: chain, at: now / 1000) }
        }
      }
      apply(known.decision, to: &verdict)
    }
    return .verdict(verdict)
  }

  private func apply(_ decision: RevocationDecision, to verdict: inout SignedDataVerdict) {
    metrics.add(Self.metric, 1, [decision.rawValue])
    switch decision {
    case .accepted, .acceptedUnconfirmed: return
    case .certificateRevoked: verdict.reason = .certificateRevoked
    case .revocationUnknown: verdict.reason = .revocationUnknown
    }
    verdict.valid = false
  }

  /// Asks again, now and then, about certificates whose answers will be over soon, so that no verdict waits for that.
  func refreshForEver() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(60))
      await checker.refresh(dueWithin: 300, at: WallClock.now() / 1000)
    }
  }
}
