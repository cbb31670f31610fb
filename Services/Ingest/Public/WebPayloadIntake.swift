import AppleAttribution
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Answers a device's request for a signed web ad, which signer has stored (Get a Signed Web Ad Impression Payload).
struct WebPayloadIntake: Sendable {
  let signer: RPCClient

  func receive(_ request: PublicHTTPRequest) async -> PublicHTTPResponse {
    let asked: WebPayloadRequest
    do throws(FieldError) { asked = try WebPayloadRequest(try request.object()) } catch {
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    do throws(RPCError) {
      let response = try await signer.call(
        SignerService.SignDeferredSKAdNetworkWebImpression.self,
        SignDeferredSKAdNetworkWebImpressionRequest(
          sourceNonce: asked.nonce.base64URL, sourceDomain: asked.sourceDomain, version: "4.0"),
        timeout: .seconds(5), traceparent: request.traceparent, requestId: request.requestId)
      guard let payload = response.payload else { throw RPCError(.internal, "signer answered no payload") }
      return .json(200, payload)
    } catch {
      switch error.code {
      case .notFound: return .failure(.notFound("no web ad is stored under this nonce for this site", field: "source_nonce"))
      default:
        return .failure(.unavailable("the ad cannot be signed now", reason: "SIGNER_UNAVAILABLE", retryAfter: .seconds(1)))
      }
    }
  }
}
