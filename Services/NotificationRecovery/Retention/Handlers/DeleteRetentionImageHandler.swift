import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Delete Image.
struct DeleteRetentionImageHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionImage
  let calls: RetentionCalls

  func handle(_ request: DeleteRetentionImageRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionImageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionParameterRules.identifier(request.imageIdentifier, "imageIdentifier")
    }
    let response = try await calls.ask(.deleteRetentionImage, target, path: [id], context)
    return DeleteRetentionImageResponse(environment: response.server.rawValue)
  }
}
