import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Apple: Upload Image.
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

/// Apple: Delete Image.
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

/// Apple: Get Image List.
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
