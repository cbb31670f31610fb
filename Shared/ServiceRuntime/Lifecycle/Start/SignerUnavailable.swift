import AttributionClient
import AttributionProtocol

/// The error of a service that requires signer: signer did not answer while the service was starting.
struct SignerUnavailable: Error, CustomStringConvertible {
  let reason: String

  var description: String { "signer does not answer (ATTRIBUTION_SIGNER_URL says where it is): \(reason)" }

  /// Throws ``SignerUnavailable`` if signer does not answer. Any other error counts as an answer: even if signer refuses the call, it is
  /// running and can be reached.
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
