import AttributionProtocol

/// Why a command ends without success: a sentence for people and a number for scripts.
struct CommandFailure: Error, Sendable, Hashable, CustomStringConvertible {
  let code: Int32
  let message: String
  /// What the operator can do about it.
  let advice: String?

  init(_ status: ExitStatus, _ message: String, advice: String? = nil) { self.init(code: status.rawValue, message, advice: advice) }

  init(code: Int32, _ message: String, advice: String? = nil) {
    self.code = code
    self.message = message
    self.advice = advice
  }

  var description: String { advice.map { "\(message)\n  \($0)" } ?? message }
}

extension CommandFailure {
  /// - Parameter asked: The service and its address, such as `verifier at http://127.0.0.1:8092`.
  init(_ error: RPCError, asked: String) {
    var message = error.message
    // Fields that the message does not name are added.
    for violation in error.fieldViolations where !message.contains(violation.field) {
      message =
        message == violation.description ? "\(violation.field): \(message)" : "\(message); \(violation.field): \(violation.description)"
    }
    if let reason = error.reason { message += " (\(reason))" }
    switch error.code {
    case .unauthenticated:
      self.init(
        .noPermission, "\(asked) does not know this token: \(message)",
        advice: "--token-file, ATTRIBUTIONCTL_TOKEN_FILE or the profile names it; `clients` in the configuration has its SHA-256.")
    case .permissionDenied:
      self.init(
        .noPermission, "\(asked) does not allow this caller to do it: \(message)",
        advice: "`allow` of the client in the configuration lists its methods.")
    case .unavailable, .deadlineExceeded:
      self.init(
        .unavailable, "\(asked) does not answer: \(message)", advice: "attributionctl doctor says what is wrong.")
    case .unknown:
      self.init(.unavailable, "\(asked) cannot be asked: \(message)", advice: "Does the address lead to it? --ca-file names its authority.")
    case .notFound: self.init(.notFound, message)
    case .invalidArgument, .outOfRange: self.init(.refusedInput, message)
    case .failedPrecondition, .alreadyExists, .aborted: self.init(.notAllowedNow, message)
    case .resourceExhausted where error.reason == "REQUEST_TOO_LARGE": self.init(.refusedInput, message)
    case .resourceExhausted:
      self.init(.tryLater, message, advice: error.retryAfterSeconds.map { "It may go again in \($0) s." })
    case .canceled: self.init(.interrupted, "stopped")
    case .unimplemented:
      self.init(
        .internalError, "\(asked) does not know this method: \(message)",
        advice: "Is the address that of another service, or the service older than attributionctl?")
    case .internal, .dataLoss: self.init(.internalError, "\(asked) failed: \(message)", advice: "Its log has more.")
    }
  }
}
