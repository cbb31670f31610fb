import AttributionProtocol

/// The result of a query for a page: a value, or a notice why there is none.
enum QueryResult<Value: Sendable>: Sendable {
  case response(Value)
  case notice(Notice)

  var value: Value? { if case .response(let value) = self { value } else { nil } }
  var notice: Notice? { if case .notice(let notice) = self { notice } else { nil } }
}

/// A notice why something is not shown.
struct Notice: Sendable, Hashable {
  /// The CSS class: `plain` for an expected notice, `bad` for an error.
  let style: String
  let text: String
  /// True if the requested object does not exist.
  let isAbsence: Bool

  static func notAllowed(_ method: String) -> Notice {
    Notice(style: "plain", text: "Not shown: you may not call \(method).")
  }

  static func notConfigured(_ service: String, _ variable: String) -> Notice {
    Notice(style: "plain", text: "Not shown: verifier does not know where \(service) is. \(variable) says so.")
  }

  static let recoveryNotConfigured = notConfigured("notification-recovery", "ATTRIBUTION_NOTIFICATION_RECOVERY_URL")

  /// - Parameter service: the service that was called.
  init(_ error: RPCError, of service: String) {
    isAbsence = error.code == .notFound
    style = error.code == .permissionDenied || error.code == .notFound ? "plain" : "bad"
    text =
      switch error.code {
      case .unavailable, .deadlineExceeded: "\(service) does not answer. What it would show here is missing."
      case .unauthenticated, .permissionDenied: "\(service) does not let verifier ask."
      case .resourceExhausted: "You are asking more often than your rate allows. It goes on in a moment."
      default: "\(service) said: \(Redaction.text(error.message))"
      }
  }

  private init(style: String, text: String) {
    self.style = style
    self.text = text
    isAbsence = false
  }
}
