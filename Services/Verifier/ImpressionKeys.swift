import AppleAttribution
import AttributionClient
import AttributionProtocol
import Cryptography
import Logging
import ServiceRuntime
import Synchronization

/// The public keys of our ad networks. Signer has the private keys, so it is asked for the public ones, and its answer is cached.
final class ImpressionKeys: Sendable {
  private struct State {
    var verifier: ImpressionVerifier?
    /// The time until which signer is not asked again.
    var until: ContinuousClock.Instant?
    /// The time until which signer is not asked again because of impressions that fit no known key.
    var nextForcedQuery: ContinuousClock.Instant?
    /// The query in flight, shared by all who need its answer.
    var asking: Task<Result<ImpressionVerifier, RPCError>, Never>?
  }

  private static let lifetime: Duration = .seconds(60)
  /// The least time between queries because of impressions that fit no known key, so that forged ones cannot cause a flood of queries.
  private static let forcedQueryInterval: Duration = .seconds(1)
  /// How long the last keys are used without another query after signer did not answer.
  private static let pause: Duration = .seconds(10)
  private let signer: RPCClient
  private let logger: Logger
  private let state = Mutex(State())

  init(signer: RPCClient, logger: Logger) {
    self.signer = signer
    self.logger = logger
  }

  /// A verifier with signer's keys, or with its last known keys if it cannot be reached.
  func verifier() async throws(RPCError) -> ImpressionVerifier {
    enum Next {
      case known(ImpressionVerifier)
      case response(Task<Result<ImpressionVerifier, RPCError>, Never>)
    }
    let next: Next = state.withLock { state in
      if let verifier = state.verifier, let until = state.until, until > .now { return .known(verifier) }
      if let asking = state.asking {
        // The last known keys are used while newer ones are fetched.
        return state.verifier.map { .known($0) } ?? .response(asking)
      }
      let asking = Task { await self.ask() }
      state.asking = asking
      return .response(asking)
    }
    switch next {
    case .known(let verifier): return verifier
    case .response(let asking): return try await asking.value.get()
    }
  }

  /// The verdict of `verify` with the known keys. If none of them fits, signer's newest keys are tried, because a key may have been added a
  /// moment ago.
  func verdict(_ verify: (ImpressionVerifier) -> ImpressionVerifier.Verdict) async throws(RPCError) -> ImpressionVerifier.Verdict {
    let verdict = verify(try await verifier())
    guard verdict.reason == .badSignature || verdict.reason == .unknownKey, let newest = await newest() else { return verdict }
    return verify(newest)
  }

  /// A verifier with signer's current keys; nil if signer was asked a moment ago or cannot be reached.
  private func newest() async -> ImpressionVerifier? {
    let asking: Task<Result<ImpressionVerifier, RPCError>, Never>? = state.withLock { state in
      if let asking = state.asking { return asking }
      if let nextForcedQuery = state.nextForcedQuery, nextForcedQuery > .now { return nil }
      let asking = Task { await self.ask() }
      state.asking = asking
      return asking
    }
    guard let asking else { return nil }
    return try? await asking.value.get()
  }

  /// The query has its own time limit, because its answer is for all callers; each of them is answered at its own deadline.
  private func ask() async -> Result<ImpressionVerifier, RPCError> {
    do throws(RPCError) {
      let listed = try await signer.call(
        SignerService.ListSigningKeys.self, ListSigningKeysRequest(), timeout: .seconds(5))
      let verifier = ImpressionVerifier(keys: Self.keys(listed))
      state.withLock { $0 = State(verifier: verifier, until: .now + Self.lifetime, nextForcedQuery: .now + Self.forcedQueryInterval) }
      return .success(verifier)
    } catch {
      let last = state.withLock { state in
        state.asking = nil
        state.until = .now + Self.pause
        state.nextForcedQuery = .now + Self.pause
        return state.verifier
      }
      guard let last else {
        return .failure(.unavailable("signer cannot be asked for its public keys", reason: "SIGNER_UNAVAILABLE"))
      }
      logger.warning(
        "signer cannot be asked for its public keys; the last ones are used", metadata: ["reason": "\(error)"])
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
