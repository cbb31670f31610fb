import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Apple: Upload Message.
struct UploadRetentionMessageHandler: RPCHandler {
  typealias Method = RetentionService.UploadRetentionMessage
  let calls: RetentionCalls
  let images: MessageImages

  func handle(_ request: UploadRetentionMessageRequest, _ context: RPCContext) async throws(RPCError) -> UploadRetentionMessageResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionParameterRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    guard let body = request.message else { throw .invalidArgument(field: "message", "is missing") }
    let message = try RetentionCalls.checked(inside: "message") { () throws(RequestRefusal) in try RetentionMessageBody(body) }
    // Recorded before Apple gets the message, because its answer may be lost.
    let isNew = try await images.begin(id, message.imageIdentifiers, target.app.bundleId, target.server)
    let response: AppStoreCalls.Response
    do throws(RPCError) {
      response = try await calls.ask(.uploadRetentionMessage, target, path: [id], body: message.body, context)
    } catch {
      if isNew, error.isRefusal { try? await images.forget(id, target.app.bundleId, target.server, ifStill: message.imageIdentifiers) }
      throw error
    }
    if !isNew { try await images.finish(id, message.imageIdentifiers, target.app.bundleId, target.server) }
    return UploadRetentionMessageResponse(environment: response.server.rawValue)
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
      try RetentionParameterRules.identifier(request.messageIdentifier, "messageIdentifier")
    }
    let response = try await calls.ask(.deleteRetentionMessage, target, path: [id], context)
    // What is left of a deleted message has no effect, because Apple's list does not contain it.
    try? await images.forget(id, target.app.bundleId, target.server)
    return DeleteRetentionMessageResponse(environment: response.server.rawValue)
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
    let response = try await calls.ask(.listRetentionMessages, target, context)
    let known = try await images.all(target.app.bundleId, target.server)
    var messages = RetentionCalls.items(response, "messageIdentifiers").map { item in
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
    return ListRetentionMessagesResponse(messages: messages, environment: response.server.rawValue)
  }

  private func approvedImages(
    _ target: (app: DeploymentConfiguration.App, server: AppStoreServer), _ context: RPCContext
  ) async throws(RPCError) -> Set<String> {
    let response = try await calls.ask(.listRetentionImages, target, context)
    return Set(
      RetentionCalls.items(response, "imageIdentifiers").filter { $0["imageState"]?.stringValue == Self.approved }
        .compactMap { $0["imageIdentifier"]?.stringValue?.lowercased() })
  }
}
