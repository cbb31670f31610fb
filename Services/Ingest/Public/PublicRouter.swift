import AttributionProtocol
import ServiceRuntime

/// Serves the public port: finds the route and calls its intake.
struct PublicRouter: PublicResponder {
  let postbacks: PostbackIntake
  let notifications: NotificationIntake
  let retention: RetentionIntake
  let tokens: TokenIntake
  let sessions: SessionIntake
  let webPayloads: WebPayloadIntake
  /// True if an app has a URL of its own for notifications.
  let takesNotifications: @Sendable (_ bundleId: String) -> Bool

  func route(_ path: String) -> PublicRouteDescription? {
    PublicRoute(path: path).map { route in
      PublicRouteDescription(method: route.method, kind: route.name, retryStatus: route.retryStatus, isServed: serves(route))
    }
  }

  func template(of path: String) -> String { PublicRoute(path: path)?.template(path) ?? "" }

  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse {
    guard let route = PublicRoute(path: request.path), serves(route) else { return .failure(.notFound("no such route")) }
    guard request.isJSON || (route.takesText && request.isText) else {
      var response = PublicHTTPResponse.failure(
        RPCError(.invalidArgument, "the content type must be application/json"), status: 415)
      response.headers.append(("Accept-Post", route.takesText ? "application/json, text/plain" : "application/json"))
      return response
    }
    switch route {
    case .postback(let adNetworkId): return await postbacks.receive(request, adNetworkId: adNetworkId)
    case .signedWebPayload: return await webPayloads.receive(request)
    case .notification(let bundleId): return await notifications.receive(request, bundleId: bundleId)
    case .retention(let bundleId): return await retention.receive(request, bundleId: bundleId)
    case .token(let bundleId): return await tokens.receive(request, bundleId: bundleId)
    case .session: return await sessions.receive(request)
    case .attStatus(let installId): return await sessions.receiveStatus(request, installId: installId)
    }
  }

  /// False for the URL of an app that is not configured.
  private func serves(_ route: PublicRoute) -> Bool {
    switch route {
    case .notification(let bundleId?): takesNotifications(bundleId)
    case .retention(let bundleId): retention.live.serves(bundleId)
    case .token(let bundleId?): tokens.takes(bundleId)
    default: true
    }
  }
}
