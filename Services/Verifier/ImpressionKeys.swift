import AppleAttribution
import AttributionClient
import AttributionProtocol
import Cryptography
import Logging
import ServiceRuntime
import Synchronization

/// The public keys of our ad networks, with which impressions are verified. Signer, which has the private keys, lists the public ones, and
/// the list is cached for a minute.
final class ImpressionKeys: Sendable {
  private struct State {
    /// A verifier with the last known keys; nil until signer has answered once.
    var verifier: ImpressionVerifier?
    /// The time until which the known keys are used without another query.
    var freshUntil: ContinuousClock.Instant?
    /// The earliest time for another query because of an impression that fits no known key.
    var nextForcedQuery: ContinuousClock.Instant?
    /// The query in flight, which all callers share that need its answer.
    var query: Task<Result<ImpressionVerifier, RPCError>, Never>?
  }

  /// How long an answer of signer's is used without another query.
  private static let lifetime: Duration = .seconds(60)
  /// The minimum time between queries because of impressions that fit no known key, so that forged impressions cannot cause a flood of
  /// queries.
  private static let forcedQueryInterval: Duration = .seconds(1)
  /// How long the last known keys are used without another query, after a query failed.
  private static let pause: Duration = .seconds(10)
  private let signer: RPCClient
  private let logger: Logger
  private let state = Mutex(State())

  init(signer: RPCClient, logger: Logger) {
    self.signer = signer
    self.logger = logger
  }

  /// A verifier with signer's keys. If signer cannot be reached, it has the last known keys; the call fails if there are none.
  func verifier() async throws(RPCError) -> ImpressionVerifier {
    enum Source {
      case known(ImpressionVerifier)
      case query(Task<Result<ImpressionVerifier, RPCError>, Never>)
    }
    let source: Source = state.withLock { state in
      if let verifier = state.verifier, let freshUntil = state.freshUntil, freshUntil > .now { return .known(verifier) }
      if let query = state.query {
        // The last known keys are used while newer ones are fetched.
        return state.verifier.map { .known($0) } ?? .query(query)
      }
      let query = Task { await self.fetch() }
      state.query = query
      return .query(query)
    }
    switch source {
    case .known(let verifier): return verifier
    case .query(let query): return try await query.value.get()
    }
  }

  /// The verdict that `verify` returns with the known keys. If none of the keys fits, `verify` is called again with signer's current keys,
  /// because a key may have been added a moment ago.
  func verdict(_ verify: (ImpressionVerifier) -> ImpressionVerifier.Verdict) async throws(RPCError) -> ImpressionVerifier.Verdict {
    let verdict = verify(try await verifier())
    guard verdict.reason == .badSignature || verdict.reason == .unknownKey, let newest = await newest() else { return verdict }
    return verify(newest)
  }

  /// A verifier with signer's current keys, or with the last known ones if signer cannot be reached. Nil if signer was asked a moment ago,
  /// or if no keys are known.
  private func newest() async -> ImpressionVerifier? {
    let query: Task<Result<ImpressionVerifier, RPCError>, Never>? = state.withLock { state in
      if let query = state.query { return query }
      if let nextForcedQuery = state.nextForcedQuery, nextForcedQuery > .now { return nil }
      let query = Task { await self.fetch() }
      state.query = query
      return query
    }
    guard let query else { return nil }
    return try? await query.value.get()
  }

  /// Queries signer, and stores its keys. The query has a timeout of its own and not that of a caller, because all callers share its
  /// answer.
  private func fetch() async -> Result<ImpressionVerifier, RPCError> {
    do throws(RPCError) {
      let listed = try await signer.call(
        SignerService.ListSigningKeys.self, ListSigningKeysRequest(), timeout: .seconds(5))
      let verifier = ImpressionVerifier(keys: Self.keys(listed))
      state.withLock {
        $0 = State(verifier: verifier, freshUntil: .now + Self.lifetime, nextForcedQuery: .now + Self.forcedQueryInterval)
      }
      return .success(verifier)
    } catch {
      let last = state.withLock { state in
        state.query = nil
        state.freshUntil = .now + Self.pause
        state.nextForcedQuery = .now + Self.pause
        return state.verifier
      }
      guard let last else {
        return .failure(.unavailable("the public keys cannot be read from signer", reason: "SIGNER_UNAVAILABLE"))
      }
      logger.warning(
        "the public keys cannot be read from signer; the last known ones are used", metadata: ["reason": "\(error)"])
      return .success(last)
    }
  }

  private static func keys(_ listed: ListSigningKeysResponse) -> [String: [ImpressionVerifier.Key]] {
    var keys: [String: [ImpressionVerifier.Key]] = [:]
    for info in listed.keys {
      guard let adNetworkId = info.adNetworkId, let key = try? PublicKey(pem: info.publicKey) else { continue }
      keys[adNetworkId, default: []].append(ImpressionVerifier.Key(id: info.keyId, key: key))
    }
    return keys
  }
}
