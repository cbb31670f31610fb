import AppStore
import Cryptography
import ServiceRuntime

/// Verifies JWS of the App Store, and checks the revocation of their certificates by the policy of the setting `appStore.revocation`.
///
/// RPC handlers await ``verdict(on:kind:expecting:now:)``. Workers must not wait for responders, because other messages of the shard would
/// wait too; they call ``immediateVerdict(on:kind:expecting:now:)``.
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

  /// True if OCSP responders may be asked. If false, verdicts are computed without I/O.
  var asksResponders: Bool { checker.policy != .off }

  /// The verdict without a check of the certificates' revocation.
  func offlineVerdict(on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation, now: Int64) -> SignedDataVerdict {
    verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now)
  }

  /// A verdict that was computed without I/O, or the queries without which there is no verdict.
  enum ImmediateVerdict: Sendable {
    case verdict(SignedDataVerdict)
    /// The signatures are verified, but OCSP responders must be asked about their certificates first. `ask` returns when all responders
    /// were asked. Then their answers, or the failures of the queries, are cached, and the next call returns a verdict.
    case needsResponders(ask: @Sendable () async -> Void)
  }

  /// The verdict with the check of revocation. Responders are asked only if the signatures are valid, so that forged data causes no
  /// requests.
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

  /// The verdict with the check of revocation, if the cache has the answers of all responders.
  func immediateVerdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) -> ImmediateVerdict {
    var chains: [VerifiedChain] = []
    var verdict = verifier.verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
    guard verdict.valid, asksResponders else { return .verdict(verdict) }
    for (index, chain) in chains.enumerated() where verdict.valid {
      guard let known = checker.known(of: chain, at: now / 1000) else {
        return .needsResponders { [checker, remaining = chains[index...]] in
          for chain in remaining { _ = await checker.revocation(of: chain, at: now / 1000) }
        }
      }
      apply(known.decision, to: &verdict)
    }
    return .verdict(verdict)
  }

  /// Changes a valid verdict by the decision about one of its certificate chains.
  private func apply(_ decision: RevocationDecision, to verdict: inout SignedDataVerdict) {
    metrics.add(Self.metric, 1, [decision.rawValue])
    switch decision {
    case .accepted, .acceptedUnconfirmed: return
    case .certificateRevoked: verdict.reason = .certificateRevoked
    case .revocationUnknown: verdict.reason = .revocationUnknown
    }
    verdict.valid = false
  }

  /// Refreshes cached answers that are due within five minutes, once a minute, until its task is cancelled. So only the first verdict under
  /// a new certificate waits for a responder.
  func refreshPeriodically() async {
    while !Task.isCancelled {
      try? await Task.sleep(for: .seconds(60))
      await checker.refresh(dueWithin: 300, at: WallClock.now() / 1000)
    }
  }
}
