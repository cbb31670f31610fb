import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Get Message List. If a message has images, it also calls Get Image List, to find the images that are not
/// approved.
struct ListRetentionMessagesHandler: RPCHandler {
  typealias Method = RetentionService.ListRetentionMessages
  /// Apple's `imageState` of an image that may be shown.
  private static let approved = "APPROVED"
  let calls: RetentionCalls
  let images: MessageImages

  func handle(_ request: ListRetentionMessagesRequest, _ context: RPCContext) async throws(RPCError) -> ListRetentionMessagesResponse {
    let target = try calls.target(request.bundleId, request.environment)
    let response = try await calls.ask(.listRetentionMessages, target, context)
    let imagesByMessage = try await images.all(target.app.bundleId, target.server)
    var messages = RetentionCalls.items(response, "messageIdentifiers").map { item in
      let id = item["messageIdentifier"]?.stringValue?.lowercased() ?? ""
      return RetentionMessage(
        messageIdentifier: id, messageState: item["messageState"]?.stringValue ?? "", imageIdentifiers: imagesByMessage[id] ?? [])
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
