import AppleAttribution
import AttributionProtocol
import Cryptography
import Logging
import ServiceRuntime
import Synchronization

/// The public keys of our ad networks: signer holds the private halves, so signer is asked, and its answer kept for a while.
final class ImpressionKeys: Sendable {
  private struct Known {
    var verifier: ImpressionVerifier
    var until: ContinuousClock.Instant
  }

  private static let lifetime: Duration = .seconds(60)
  private let signer: RPCClient
  private let logger: Logger
  private let known = Mutex<Known?>(nil)

  init(signer: RPCClient, logger: Logger) {
    self.signer = signer
    self.logger = logger
  }

  /// A verifier with the keys signer has now, or had when it was last to be reached.
  func verifier() async throws(RPCError) -> ImpressionVerifier {
    let last = known.withLock { $0 }
    if let last, last.until > .now { return last.verifier }
    do throws(RPCError) {
      let listed = try await signer.call(
        SignerService.ListSigningKeys.self, ListSigningKeysRequest(), timeout: .seconds(5))
      let verifier = ImpressionVerifier(keys: Self.keys(listed))
      known.withLock { $0 = Known(verifier: verifier, until: .now + Self.lifetime) }
      return verifier
    } catch {
      guard let last else {
        throw .unavailable("signer cannot be asked for its public keys", reason: "SIGNER_UNAVAILABLE")
      }
      logger.warning(
        "signer cannot be asked for its public keys; the last ones are used", metadata: ["error": "\(error)"])
      return last.verifier
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
