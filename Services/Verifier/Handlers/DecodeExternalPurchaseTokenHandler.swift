import AppStore
import AttributionProtocol
import ServiceRuntime

/// `DecodeExternalPurchaseToken`: decodes an external purchase token from an app or a website. Apple does not sign the token, so nothing is
/// verified.
struct DecodeExternalPurchaseTokenHandler: RPCHandler {
  typealias Method = VerifierService.DecodeExternalPurchaseToken
  /// The present time, milliseconds since 1970.
  let now: @Sendable () -> Int64

  func handle(_ request: DecodeExternalPurchaseTokenRequest, _ context: RPCContext) async throws(RPCError)
    -> DecodeExternalPurchaseTokenResponse
  {
    guard let text = request.token, !text.isEmpty else { throw .invalidArgument(field: "token", "is missing") }
    let token: ExternalPurchaseToken
    do throws(ExternalPurchaseToken.Failure) { token = try ExternalPurchaseToken(decoding: text) } catch {
      switch error {
      case .tooLarge(let limit): throw .invalidArgument(field: "token", "is larger than \(limit) bytes")
      case .notBase64URL: throw .invalidArgument(field: "token", "is not Base64URL")
      case .notAnObject: throw .invalidArgument(field: "token", "does not contain a JSON object")
      case .malformed(let field): throw .invalidArgument(field: "token.\(field)", "is missing or of a wrong type")
      }
    }
    return DecodeExternalPurchaseTokenResponse(
      token: token.object, environment: token.environment,
      createdAt: token.creationDate.flatMap { Timestamp(writableMilliseconds: $0) },
      expiresAt: token.expirationDate.flatMap { Timestamp(writableMilliseconds: $0) }, expired: token.isExpired(at: now()))
  }
}
