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
