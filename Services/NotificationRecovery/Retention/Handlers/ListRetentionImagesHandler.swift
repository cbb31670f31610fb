import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Get Image List.
struct ListRetentionImagesHandler: RPCHandler {
  typealias Method = RetentionService.ListRetentionImages
  let calls: RetentionCalls

  func handle(_ request: ListRetentionImagesRequest, _ context: RPCContext) async throws(RPCError) -> ListRetentionImagesResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let response = try await calls.ask(.listRetentionImages, target, context)
    let images = RetentionCalls.items(response, "imageIdentifiers").map { item in
      RetentionImage(
        imageIdentifier: item["imageIdentifier"]?.stringValue?.lowercased() ?? "", imageState: item["imageState"]?.stringValue ?? "",
        imageSize: item["imageSize"]?.stringValue ?? "")
    }
    return ListRetentionImagesResponse(images: images, environment: response.server.rawValue)
  }
}
