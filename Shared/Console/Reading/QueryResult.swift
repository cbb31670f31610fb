import AttributionProtocol

/// The result of a query for a page: a value, or a notice that says why there is none.
enum QueryResult<Value: Sendable>: Sendable {
  case response(Value)
  case notice(Notice)

  var value: Value? { if case .response(let value) = self { value } else { nil } }
  var notice: Notice? { if case .notice(let notice) = self { notice } else { nil } }
}

/// A text that a page shows in place of the data of a query that failed or was not made.
struct Notice: Sendable, Hashable {
  /// The CSS class: `bad` for an error; `plain` if the data is missing as expected, because of permissions, configuration or an unknown id.
  let style: String
  let text: String
  /// True if the queried object does not exist (`not_found`).
  let isNotFound: Bool

  static func notAllowed(_ method: String) -> Notice {
    Notice(style: "plain", text: "Not shown: you may not call \(method).")
  }

  static func notConfigured(_ service: String, _ variable: String) -> Notice {
    Notice(style: "plain", text: "Not shown: the URL of \(service) is not configured. Set \(variable).")
  }

  static let recoveryNotConfigured = notConfigured("notification-recovery", "ATTRIBUTION_NOTIFICATION_RECOVERY_URL")

  /// The notice about a call that failed.
  init(_ error: RPCError, of service: String) {
    isNotFound = error.code == .notFound
    style = error.code == .permissionDenied || error.code == .notFound ? "plain" : "bad"
    text =
      switch error.code {
      case .unavailable, .deadlineExceeded: "Not shown: \(service) does not answer."
      case .unauthenticated, .permissionDenied: "Not shown: \(service) does not allow verifier to call this method."
      // Verifier limits the calls of the user. Other services limit those of verifier.
      case .resourceExhausted: "Not shown now: \(service) refuses the call, because its limit is reached. It is tried again in a moment."
      default: "Not shown: \(service) answers: \(Redaction.text(error.message))"
      }
  }

  private init(style: String, text: String) {
    self.style = style
    self.text = text
    isNotFound = false
  }
}
