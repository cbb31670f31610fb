import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime
import WireJSON

/// All methods of the service.
enum RetentionHandlers {
  static func all(_ calls: AppStoreCalls, redis: RedisClient) -> [any RPCHandler] {
    let calls = RetentionCalls(calls: calls)
    let images = MessageImages(redis: redis)
    return [
      UploadRetentionImageHandler(calls: calls), DeleteRetentionImageHandler(calls: calls), ListRetentionImagesHandler(calls: calls),
      UploadRetentionMessageHandler(calls: calls, images: images), DeleteRetentionMessageHandler(calls: calls, images: images),
      ListRetentionMessagesHandler(calls: calls, images: images),
      SetDefaultRetentionMessageHandler(calls: calls), GetDefaultRetentionMessageHandler(calls: calls),
      DeleteDefaultRetentionMessageHandler(calls: calls), SetRetentionURLHandler(calls: calls), GetRetentionURLHandler(calls: calls),
      DeleteRetentionURLHandler(calls: calls), StartRetentionPerformanceTestHandler(calls: calls),
      GetRetentionPerformanceTestHandler(calls: calls),
    ]
  }
}

/// Apple: Upload Image.
struct UploadRetentionImageHandler: RPCHandler {
  typealias Method = RetentionService.UploadRetentionImage
  let calls: RetentionCalls

  func handle(_ request: UploadRetentionImageRequest, _ context: RPCContext) async throws(RPCError) -> UploadRetentionImageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let (id, image) = try RetentionCalls.checked { () throws(RequestRefusal) in
      (
        try RetentionRules.identifier(request.imageIdentifier, "imageIdentifier"),
        try RetentionImageFile(base64: request.image, size: request.imageSize)
      )
    }
    let answer = try await calls.ask(
      .uploadRetentionImage, target, path: [id], query: image.size.map { [("imageSize", $0.rawValue)] } ?? [], content: image.bytes, context
    )
    return UploadRetentionImageResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Delete Image.
struct DeleteRetentionImageHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionImage
  let calls: RetentionCalls

  func handle(_ request: DeleteRetentionImageRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionImageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionRules.identifier(request.imageIdentifier, "imageIdentifier")
    }
    let answer = try await calls.ask(.deleteRetentionImage, target, path: [id], context)
    return DeleteRetentionImageResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Get Image List.
struct ListRetentionImagesHandler: RPCHandler {
  typealias Method = RetentionService.ListRetentionImages
  let calls: RetentionCalls

  func handle(_ request: ListRetentionImagesRequest, _ context: RPCContext) async throws(RPCError) -> ListRetentionImagesResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let answer = try await calls.ask(.listRetentionImages, target, context)
    let images = RetentionCalls.items(answer, "imageIdentifiers").map { item in
      RetentionImage(
        imageIdentifier: item["imageIdentifier"]?.stringValue?.lowercased() ?? "", imageState: item["imageState"]?.stringValue ?? "",
        imageSize: item["imageSize"]?.stringValue ?? "")
    }
    return ListRetentionImagesResponse(images: images, environment: answer.server.rawValue)
  }
}

/// Apple: Upload Message.
struct UploadRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.UploadRetentionMessage
  let calls: RetentionCalls
  let images: MessageImages

  func handle(_ request: UploadRetentionMessageRequest, _ context: RPCContext) async throws(RPCError) -> UploadRetentionMessageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    guard let body = request.message else { throw .invalidArgument(field: "message", "is missing") }
    let message = try RetentionCalls.checked(inside: "message") { () throws(RequestRefusal) in try RetentionMessageBody(body) }
    // Recorded before Apple gets the message, because its answer may be lost.
    let isNew = try await images.begin(id, message.imageIdentifiers, target.app.bundleId, target.server)
    let answer: AppStoreCalls.Answer
    do throws(RPCError) {
      answer = try await calls.ask(.uploadRetentionMessage, target, path: [id], body: message.body, context)
    } catch {
      if isNew, error.isRefusal { try? await images.forget(id, target.app.bundleId, target.server, ifStill: message.imageIdentifiers) }
      throw error
    }
    if !isNew { try await images.finish(id, message.imageIdentifiers, target.app.bundleId, target.server) }
    return UploadRetentionMessageResponse(environment: answer.server.rawValue)
  }
}

extension RPCError {
  /// True if Apple has not done what was requested; false if it may have.
  fileprivate var isRefusal: Bool {
    switch code {
    case .invalidArgument, .failedPrecondition, .alreadyExists, .notFound, .permissionDenied, .unauthenticated, .resourceExhausted: true
    default: false
    }
  }
}

/// Apple: Delete Message.
struct DeleteRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionMessage
  let calls: RetentionCalls
  let images: MessageImages

  func handle(_ request: DeleteRetentionMessageRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionMessageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    let answer = try await calls.ask(.deleteRetentionMessage, target, path: [id], context)
    // What is left of a deleted message has no effect, because Apple's list does not contain it.
    try? await images.forget(id, target.app.bundleId, target.server)
    return DeleteRetentionMessageResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Get Message List, and Get Image List where a message has images.
struct ListRetentionMessagesHandler: RPCHandler {
  typealias Method = RetentionService.ListRetentionMessages
  private static let approved = "APPROVED"
  let calls: RetentionCalls
  let images: MessageImages

  func handle(_ request: ListRetentionMessagesRequest, _ context: RPCContext) async throws(RPCError) -> ListRetentionMessagesResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let answer = try await calls.ask(.listRetentionMessages, target, context)
    let known = try await images.all(target.app.bundleId, target.server)
    var messages = RetentionCalls.items(answer, "messageIdentifiers").map { item in
      let id = item["messageIdentifier"]?.stringValue?.lowercased() ?? ""
      return RetentionMessage(
        messageIdentifier: id, messageState: item["messageState"]?.stringValue ?? "", imageIdentifiers: known[id] ?? [])
    }
    if messages.contains(where: { !$0.imageIdentifiers.isEmpty }) {
      let approved = try await approvedImages(target, context)
      for index in messages.indices {
        messages[index].unapprovedImageIdentifiers = messages[index].imageIdentifiers.filter { !approved.contains($0) }
      }
    }
    return ListRetentionMessagesResponse(messages: messages, environment: answer.server.rawValue)
  }

  private func approvedImages(
    _ target: (app: DeploymentConfiguration.App, server: AppStoreServer), _ context: RPCContext
  ) async throws(RPCError) -> Set<String> {
    let answer = try await calls.ask(.listRetentionImages, target, context)
    return Set(
      RetentionCalls.items(answer, "imageIdentifiers").filter { $0["imageState"]?.stringValue == Self.approved }
        .compactMap { $0["imageIdentifier"]?.stringValue?.lowercased() })
  }
}

/// Apple: Configure Default Message.
struct SetDefaultRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.SetDefaultRetentionMessage
  let calls: RetentionCalls

  func handle(_ request: SetDefaultRetentionMessageRequest, _ context: RPCContext) async throws(RPCError)
    -> SetDefaultRetentionMessageResponse
  {
    let target = try calls.target(request.bundleId, request.environment)
    let path = try calls.defaultPath(request.productId, request.locale)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    let answer = try await calls.ask(
      .setDefaultRetentionMessage, target, path: path, body: ["messageIdentifier": .string(id)], context)
    return SetDefaultRetentionMessageResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Get Default Message.
struct GetDefaultRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.GetDefaultRetentionMessage
  let calls: RetentionCalls

  func handle(_ request: GetDefaultRetentionMessageRequest, _ context: RPCContext) async throws(RPCError)
    -> GetDefaultRetentionMessageResponse
  {
    let target = try calls.target(request.bundleId, request.environment)
    let path = try calls.defaultPath(request.productId, request.locale)
    let answer = try await calls.ask(.getDefaultRetentionMessage, target, path: path, context)
    return GetDefaultRetentionMessageResponse(
      messageIdentifier: try RetentionCalls.text(answer, "messageIdentifier").lowercased(), environment: answer.server.rawValue)
  }
}

/// Apple: Delete Default Message. Without a default message it succeeds too.
struct DeleteDefaultRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.DeleteDefaultRetentionMessage
  let calls: RetentionCalls

  func handle(_ request: DeleteDefaultRetentionMessageRequest, _ context: RPCContext) async throws(RPCError)
    -> DeleteDefaultRetentionMessageResponse
  {
    let target = try calls.target(request.bundleId, request.environment)
    let path = try calls.defaultPath(request.productId, request.locale)
    let answer = try await calls.ask(.deleteDefaultRetentionMessage, target, path: path, context)
    return DeleteDefaultRetentionMessageResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Configure Realtime URL.
struct SetRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.SetRetentionURL
  let calls: RetentionCalls

  func handle(_ request: SetRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> SetRetentionURLResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let url = try RetentionCalls.checked { () throws(RequestRefusal) in try RetentionRules.url(request.realtimeUrl) }
    let answer = try await calls.ask(.setRetentionURL, target, body: ["realtimeURL": .string(url)], context)
    return SetRetentionURLResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Get Realtime URL.
struct GetRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.GetRetentionURL
  let calls: RetentionCalls

  func handle(_ request: GetRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> GetRetentionURLResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let answer = try await calls.ask(.getRetentionURL, target, context)
    return GetRetentionURLResponse(
      realtimeUrl: try RetentionCalls.text(answer, "realtimeURL"), environment: answer.server.rawValue)
  }
}

/// Apple: Delete Realtime URL.
struct DeleteRetentionURLHandler: RPCHandler {
  typealias Method = RetentionService.DeleteRetentionURL
  let calls: RetentionCalls

  func handle(_ request: DeleteRetentionURLRequest, _ context: RPCContext) async throws(RPCError) -> DeleteRetentionURLResponse {
    let answer = try await calls.ask(.deleteRetentionURL, try calls.target(request.bundleId, request.environment), context)
    return DeleteRetentionURLResponse(environment: answer.server.rawValue)
  }
}

/// Apple: Initiate Performance Test.
struct StartRetentionPerformanceTestHandler: RPCHandler {
  typealias Method = RetentionService.StartRetentionPerformanceTest
  let calls: RetentionCalls

  func handle(_ request: StartRetentionPerformanceTestRequest, _ context: RPCContext) async throws(RPCError)
    -> StartRetentionPerformanceTestResponse
  {
    let target = try calls.sandbox(request.bundleId, request.environment)
    let id = try calls.calls.transactionId("originalTransactionId", request.originalTransactionId)
    let answer = try await calls.ask(.startRetentionPerformanceTest, target, body: ["originalTransactionId": .string(id)], context)
    return StartRetentionPerformanceTestResponse(
      requestId: try RetentionCalls.text(answer, "requestId"), response: answer.response, environment: answer.server.rawValue)
  }
}

/// Apple: Get Performance Test Results.
struct GetRetentionPerformanceTestHandler: RPCHandler {
  typealias Method = RetentionService.GetRetentionPerformanceTest
  let calls: RetentionCalls

  func handle(_ request: GetRetentionPerformanceTestRequest, _ context: RPCContext) async throws(RPCError)
    -> GetRetentionPerformanceTestResponse
  {
    let target = try calls.sandbox(request.bundleId, request.environment)
    let id = try calls.calls.filled("requestId", request.requestId)
    let answer = try await calls.ask(.getRetentionPerformanceTest, target, path: [id], context)
    return GetRetentionPerformanceTestResponse(
      result: try RetentionCalls.text(answer, "result"), response: answer.response, environment: answer.server.rawValue)
  }
}

extension RetentionCalls {
  /// The product and locale of a default message, as a path.
  fileprivate func defaultPath(_ productId: String?, _ locale: String?) throws(RPCError) -> [String] {
    [
      try calls.filled("productId", productId),
      try Self.checked { () throws(RequestRefusal) in try RetentionRules.locale(locale) },
    ]
  }
}
