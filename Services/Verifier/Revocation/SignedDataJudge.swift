import AppStore
import Cryptography
import ServiceRuntime

/// Judges JWS of the App Store: their proof, and by the deployment's policy whether their certificates still stand.
struct SignedDataJudge: Sendable {
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
  func proof(on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation, now: Int64) -> SignedDataVerdict {
    verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now)
  }

  /// The whole verdict. Only what is proved is asked about: a forger makes us ask nobody.
  func verdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) async -> SignedDataVerdict {
    var chains: [VerifiedChain] = []
    var verdict = verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
    guard verdict.valid, asksResponders else { return verdict }
    for chain in chains {
      let decision = await checker.revocation(of: chain, at: now / 1000).decision
      metrics.add(Self.metric, 1, [decision.rawValue])
      switch decision {
      case .accepted, .acceptedUnconfirmed: continue
      case .certificateRevoked: verdict.reason = .certificateRevoked
      case .revocationUnknown: verdict.reason = .revocationUnknown
      }
      verdict.valid = false
      return verdict
    }
    return verdict
  }

  /// Asks again, now and then, about certificates whose answers will be over soon, so that no verdict waits for that.
  func refreshForEver() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(60))
      await checker.refresh(dueWithin: 300, at: WallClock.now() / 1000)
    }
  }
}
