import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Upload Message, and records the message's images (``MessageImages``).
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
    // The images are recorded before the upload, because Apple may get the message although its answer is lost.
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
  /// True if the request certainly changed nothing at Apple; false if Apple may have executed it.
  fileprivate var isRefusal: Bool {
    switch code {
    case .invalidArgument, .failedPrecondition, .alreadyExists, .notFound, .permissionDenied, .unauthenticated, .resourceExhausted: true
    default: false
    }
  }
}
