import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Upload Image.
struct UploadRetentionImageHandler: RPCHandler {
  typealias Method = RetentionService.UploadRetentionImage
  let calls: RetentionCalls

  func handle(_ request: UploadRetentionImageRequest, _ context: RPCContext) async throws(RPCError) -> UploadRetentionImageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let (id, image) = try RetentionCalls.checked { () throws(RequestRefusal) in
      (
        try RetentionParameterRules.identifier(request.imageIdentifier, "imageIdentifier"),
        try RetentionImageFile(base64: request.image, size: request.imageSize)
      )
    }
    let response = try await calls.ask(
      .uploadRetentionImage, target, path: [id], query: image.size.map { [("imageSize", $0.rawValue)] } ?? [], content: image.bytes, context
    )
    return UploadRetentionImageResponse(environment: response.server.rawValue)
  }
}
