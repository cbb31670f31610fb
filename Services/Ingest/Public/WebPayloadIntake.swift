import AppleAttribution
import AttributionClient
import AttributionProtocol
import ServiceRuntime

/// Answers a device's request for the signed payload of a web ad (Get a Signed Web Ad Impression Payload). Signer stores the ad, and signs
/// it for the site that the request names.
struct WebPayloadIntake: Sendable {
  let signer: RPCClient

  func receive(_ request: PublicHTTPRequest) async -> PublicHTTPResponse {
    let payloadRequest: WebPayloadRequest
    do throws(FieldError) { payloadRequest = try WebPayloadRequest(try request.object()) } catch {
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    do throws(RPCError) {
      let response = try await signer.call(
        SignerService.SignDeferredSKAdNetworkWebImpression.self,
        SignDeferredSKAdNetworkWebImpressionRequest(
          sourceNonce: payloadRequest.nonce.base64URL, sourceDomain: payloadRequest.sourceDomain, version: "4.0"),
        timeout: .seconds(5), traceparent: request.traceparent, requestId: request.requestId)
      guard let payload = response.payload else { throw RPCError(.internal, "signer's answer has no payload") }
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
