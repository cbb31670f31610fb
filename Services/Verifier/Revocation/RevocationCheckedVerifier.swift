import AppStore
import Cryptography
import ServiceRuntime

/// Verifies JWS of the App Store, and checks the revocation of their certificates by the deployment's policy.
struct RevocationCheckedVerifier: Sendable {
  private static let metric = "attribution_revocation_total"

  let verifier: SignedDataVerifier
  private let checker: RevocationChecker
  private let metrics: MetricsRegistry

  init(verifier: SignedDataVerifier, checker: RevocationChecker, metrics: MetricsRegistry) {
    self.verifier = verifier
    self.checker = checker
    self.metrics = metrics
    metrics.counter(Self.metric, help: "Certificate chains whose revocation was checked.", labels: ["decision"])
  }

  /// True if OCSP responders may be asked. Otherwise verdicts are computed without I/O.
  var asksResponders: Bool { checker.policy != .off }

  /// The verdict without a check of revocation.
  func offlineVerdict(on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation, now: Int64) -> SignedDataVerdict {
    verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now)
  }

  /// A verdict without I/O, or the I/O that it needs.
  enum ImmediateVerdict: Sendable {
    case verdict(SignedDataVerdict)
    /// The signature is verified, but OCSP responders must be asked about its certificates. `ask` returns when their answers are cached, or
    /// when they did not answer.
    case open(ask: @Sendable () async -> Void)
  }

  /// The whole verdict. Responders are asked only about verified data, so that forged data causes no requests.
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

  /// The whole verdict, if the revocation of its certificates is cached.
  func immediateVerdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) -> ImmediateVerdict {
    var chains: [VerifiedChain] = []
    var verdict = verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
    guard verdict.valid, asksResponders else { return .verdict(verdict) }
    for (index, chain) in chains.enumerated() where verdict.valid {
      guard let known = checker.known(of: chain, at: now / 1000) else {
        return .open { [checker, open = chains[index...]] in
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

  /// Periodically refreshes cached answers that expire soon, so that no verdict has to wait for a responder.
  func refreshForEver() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(60))
      await checker.refresh(dueWithin: 300, at: WallClock.now() / 1000)
    }
  }
}
