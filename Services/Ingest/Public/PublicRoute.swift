/// The routes of the public port (`spec/api.md`, "ingest — from the outside"), each with and without a slash at its
/// end: Apple does not follow redirects.
enum PublicRoute: Sendable, Hashable {
  /// A postback; the ad network whose URL it came to, when the URL names one.
  case postback(adNetworkId: String?)
  case signedWebPayload
  /// A notification; the app whose URL it came to, when the URL names one.
  case notification(bundleId: String?)
  /// A request of the App Store for a retention message of the app that the URL names.
  case retention(bundleId: String)
  /// An AdServices token; the app whose URL it came to, when the URL names one.
  case token(bundleId: String?)
  case session
  case attStatus(installId: String)

  /// Nil when there is no such path.
  init?(path: String) {
    // By far the most requests are for one of these.
    switch path {
    case "/.well-known/skadnetwork/report-attribution", "/.well-known/appattribution/report-attribution", "/v1/postbacks":
      self = .postback(adNetworkId: nil)
      return
    default: break
    }
    var segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    if segments.count > 1, segments.last == "" { segments = segments.dropLast() }
    switch segments.map(String.init) {
    case [".well-known", "skadnetwork", "report-attribution"], [".well-known", "appattribution", "report-attribution"],
      ["v1", "postbacks"]:
      self = .postback(adNetworkId: nil)
    case [".well-known", "skadnetwork", "get-signed-payload"]: self = .signedWebPayload
    case ["v1", "app-store", "notifications"]: self = .notification(bundleId: nil)
    case ["v1", "adservices", "tokens"]: self = .token(bundleId: nil)
    case ["v1", "sessions"]: self = .session
    case let parts where parts.count == 3 && parts[0] == "v1" && parts[1] == "postbacks":
      guard let id = Self.decoded(parts[2]), !id.isEmpty else { return nil }
      self = .postback(adNetworkId: id)
    case let parts where parts.count == 4 && parts[0] == "v1" && parts[1] == "app-store" && parts[2] == "notifications":
      guard let id = Self.decoded(parts[3]), !id.isEmpty else { return nil }
      self = .notification(bundleId: id)
    case let parts where parts.count == 4 && parts[0] == "v1" && parts[1] == "app-store" && parts[2] == "retention":
      guard let id = Self.decoded(parts[3]), !id.isEmpty else { return nil }
      self = .retention(bundleId: id)
    case let parts where parts.count == 4 && parts[0] == "v1" && parts[1] == "adservices" && parts[2] == "tokens":
      guard let id = Self.decoded(parts[3]), !id.isEmpty else { return nil }
      self = .token(bundleId: id)
    case let parts where parts.count == 4 && parts[0] == "v1" && parts[1] == "sessions" && parts[3] == "att-status":
      guard let id = Self.decoded(parts[2]), !id.isEmpty else { return nil }
      self = .attStatus(installId: id)
    default: return nil
    }
  }

  var method: String {
    if case .attStatus = self { "PUT" } else { "POST" }
  }

  /// A bounded name for metrics and logs.
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

  /// The path as traces tell it: without what names an app, an ad network or a device.
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

  /// What the body may be.
  var takesText: Bool {
    if case .token = self { true } else { false }
  }

  /// A path segment or query value with its `%41` resolved; nil when that is no UTF-8.
  static func decoded(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let first = rest.popFirst() {
      guard first == UInt8(ascii: "%") else {
        bytes.append(first)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }
}
