import AttributionClient
import AttributionProtocol

/// Signer did not answer while a service that requires it was starting.
struct SignerUnavailable: Error, CustomStringConvertible {
  let reason: String

  var description: String { "signer does not answer (ATTRIBUTION_SIGNER_URL says where it is): \(reason)" }

  /// Throws ``SignerUnavailable`` if signer does not answer. A refused call counts as an answer.
  static func check(_ signer: RPCClient) async throws(SignerUnavailable) {
    do throws(RPCError) {
      _ = try await signer.call(SignerService.ListSigningKeys.self, ListSigningKeysRequest(), timeout: .seconds(2))
    } catch {
      switch error.code {
      case .unavailable, .deadlineExceeded, .unknown: throw SignerUnavailable(reason: error.message)
      default: return
      }
    }
  }
}
