/// The routes of the public port (`spec/api.md`, "ingest — from the outside"), each with and without a slash at its end, because Apple does
/// not follow redirects.
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
    // Every request is routed. Strings are used instead of substrings, because comparing an ASCII string is a `memcmp`.
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

  /// The decoded segment between a prefix and a suffix; nil if there is none, or more than one.
  private static func segment(_ path: String, after prefix: String, before suffix: String = "") -> String? {
    guard path.hasPrefix(prefix), path.utf8.count >= prefix.utf8.count + suffix.utf8.count, suffix.isEmpty || path.hasSuffix(suffix) else {
      return nil
    }
    let segment = path.utf8.dropFirst(prefix.utf8.count).dropLast(suffix.utf8.count)
    guard !segment.contains(UInt8(ascii: "/")) else { return nil }
    // An empty install id passes here, and is refused later by a rule that names the field.
    return decoded(Substring(segment)).flatMap { $0.isEmpty && suffix.isEmpty ? nil : $0 }
  }

  var method: String {
    if case .attStatus = self { "PUT" } else { "POST" }
  }

  /// The status after which the route's senders retry; nil if they retry after the usual ones. Apple documents retries of devices that send
  /// postbacks only for 500, and retries of the App Store for "40x" and "50x", which may not include 429.
  var retryStatus: Int? {
    switch self {
    case .postback: 500
    case .notification: 503
    default: nil
    }
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

  /// True if the body may be text.
  var takesText: Bool {
    if case .token = self { true } else { false }
  }

  /// A percent-decoded path segment or query value; nil if it is not UTF-8.
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
