import AttributionProtocol
import ServiceRuntime

/// Serves the public port: finds the route of a request and calls its intake, such as ``PostbackIntake``.
///
/// `PublicServer` calls ``route(_:)`` with the path before the body is read, and its `PublicExchange` calls ``respond(to:)`` when the body is
/// read and decompressed.
struct PublicRouter: PublicResponder {
  let postbacks: PostbackIntake
  let notifications: NotificationIntake
  let retention: RetentionIntake
  let tokens: TokenIntake
  let sessions: SessionIntake
  let webPayloads: WebPayloadIntake
  /// True for an app that is configured, which therefore has a URL of its own for notifications.
  let acceptsNotifications: @Sendable (_ bundleId: String) -> Bool

  func route(_ path: String) -> PublicRouteDescription? {
    PublicRoute(path: path).map { route in
      PublicRouteDescription(method: route.method, kind: route.name, retryStatus: route.retryStatus, isServed: serves(route))
    }
  }

  func template(of path: String) -> String { PublicRoute(path: path)?.template(path) ?? "" }

  func respond(to request: PublicHTTPRequest) async -> PublicHTTPResponse {
    guard let route = PublicRoute(path: request.path), serves(route) else { return .failure(.notFound("no such route")) }
    guard route.readsEveryType || request.hasReadableType else {
      var response = PublicHTTPResponse.failure(
        RPCError(.invalidArgument, "the content type must be application/json"), status: 415)
      response.headers.append(("Accept-Post", "application/json, text/plain"))
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
    case .notification(let bundleId?): acceptsNotifications(bundleId)
    case .retention(let bundleId): retention.live.serves(bundleId)
    case .token(let bundleId?): tokens.acceptsTokens(bundleId)
    default: true
    }
  }
}

/// The routes of the public port. A path may have a slash at its end, because Apple does not follow a redirect to the path without it.
enum PublicRoute: Sendable, Hashable {
  /// A postback; with the ad network if the URL names one.
  case postback(adNetworkId: String?)
  case signedWebPayload
  /// A notification; with the app if the URL names one.
  case notification(bundleId: String?)
  /// A request of the App Store for a retention message of the app that the URL names.
  case retention(bundleId: String)
  /// An AdServices token; with the app if the URL names one.
  case token(bundleId: String?)
  case session
  case attStatus(installId: String)

  /// Nil for an unknown path.
  init?(path: String) {
    // This runs for every request. A `String` is used instead of a `Substring`, because ASCII strings are compared with `memcmp`.
    let path = path.utf8.last == UInt8(ascii: "/") ? String(path.dropLast()) : path
    switch path {
    case "/.well-known/skadnetwork/report-attribution", "/.well-known/appattribution/report-attribution", "/v1/postbacks":
      self = .postback(adNetworkId: nil)
    case "/.well-known/skadnetwork/get-signed-payload": self = .signedWebPayload
    case "/v1/app-store/notifications": self = .notification(bundleId: nil)
    case "/v1/adservices/tokens": self = .token(bundleId: nil)
    case "/v1/sessions": self = .session
    default:
      if let id = Self.segment(path, after: "/v1/app-store/notifications/") {
        self = .notification(bundleId: id)
      } else if let id = Self.segment(path, after: "/v1/postbacks/") {
        self = .postback(adNetworkId: id)
      } else if let id = Self.segment(path, after: "/v1/app-store/retention/") {
        self = .retention(bundleId: id)
      } else if let id = Self.segment(path, after: "/v1/adservices/tokens/") {
        self = .token(bundleId: id)
      } else if let id = Self.segment(path, after: "/v1/sessions/", before: "/att-status") {
        self = .attStatus(installId: id)
      } else {
        return nil
      }
    }
  }

  /// The decoded path segment between a prefix and a suffix; nil if there is none, or more than one.
  private static func segment(_ path: String, after prefix: String, before suffix: String = "") -> String? {
    guard path.hasPrefix(prefix), path.utf8.count >= prefix.utf8.count + suffix.utf8.count, suffix.isEmpty || path.hasSuffix(suffix) else {
      return nil
    }
    let segment = path.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    guard !segment.contains(UInt8(ascii: "/")) else { return nil }
    // An empty install id is accepted here, because `SessionIntake` refuses it with an error that names the field.
    return PublicHTTPRequest.percentDecoded(Substring(segment)).flatMap { $0.isEmpty && suffix.isEmpty ? nil : $0 }
  }

  var method: String {
    if case .attStatus = self { "PUT" } else { "POST" }
  }

  /// True if the content type is not checked: a withdrawal of consent counts whatever the client calls its body.
  var readsEveryType: Bool {
    if case .attStatus = self { true } else { false }
  }

  /// The status of a response that asks the sender to retry; nil if the sender understands the usual ones, 429 and 503. Apple documents
  /// that devices retry postbacks after 500, and that the App Store retries notifications after "40x" and "50x", which may not include 429.
  var retryStatus: Int? {
    switch self {
    case .postback: 500
    case .notification: 503
    default: nil
    }
  }

  /// The name of the route in metrics and logs. It contains no part of the path.
  var name: String {
    switch self {
    case .postback: "postback"
    case .signedWebPayload: "signed-payload"
    case .notification: "notification"
    case .retention: "retention"
    case .token: "token"
    case .session: "session"
    case .attStatus: "att-status"
    }
  }

  /// The path for traces, with placeholders for apps, ad networks and devices.
  func template(_ path: String) -> String {
    switch self {
    case .postback(adNetworkId: nil) where !path.hasPrefix("/v1"): path.hasSuffix("/") ? String(path.dropLast()) : path
    case .postback(adNetworkId: nil): "/v1/postbacks"
    case .postback: "/v1/postbacks/{adNetworkId}"
    case .signedWebPayload: "/.well-known/skadnetwork/get-signed-payload"
    case .notification(bundleId: nil): "/v1/app-store/notifications"
    case .notification: "/v1/app-store/notifications/{bundleId}"
    case .retention: "/v1/app-store/retention/{bundleId}"
    case .token(bundleId: nil): "/v1/adservices/tokens"
    case .token: "/v1/adservices/tokens/{bundleId}"
    case .session: "/v1/sessions"
    case .attStatus: "/v1/sessions/{installId}/att-status"
    }
  }
}
