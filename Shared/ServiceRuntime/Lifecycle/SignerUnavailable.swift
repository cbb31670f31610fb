import AttributionClient
import AttributionProtocol

/// Signer did not answer while a service that cannot work without it was starting.
struct SignerUnavailable: Error, CustomStringConvertible {
  let reason: String

  var description: String { "signer does not answer (ATTRIBUTION_SIGNER_URL says where it is): \(reason)" }

  /// Throws ``SignerUnavailable`` when no signer answers. One that refuses the call is there.
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
