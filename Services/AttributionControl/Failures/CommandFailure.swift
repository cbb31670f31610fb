import AttributionProtocol

/// The failure of a command: a message for people and an exit code for scripts.
struct CommandFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// The exit code of the process: a value of ``ExitStatus`` or ``DoctorCode``.
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
  /// Converts the error of a call.
  ///
  /// - Parameter service: the called service and its address, such as `verifier at http://127.0.0.1:8092`.
  init(_ error: RPCError, service: String) {
    var message = error.message
    // The message may not name the fields that it is about.
    for violation in error.fieldViolations where !message.contains(violation.field) {
      message =
        message == violation.description ? "\(violation.field): \(message)" : "\(message); \(violation.field): \(violation.description)"
    }
    if let reason = error.reason { message += " (\(reason))" }
    switch error.code {
    case .unauthenticated:
      self.init(
        .noPermission, "\(service) does not know this token: \(message)",
        advice:
          "Check the token (--token-file, ATTRIBUTIONCTL_TOKEN_FILE or profile). Its SHA-256 must be in `clients` of the configuration.")
    case .permissionDenied:
      self.init(
        .noPermission, "\(service) does not allow this caller to call the method: \(message)",
        advice: "Add the method to `allow` of the client in the configuration.")
    case .unavailable, .deadlineExceeded:
      self.init(
        .unavailable, "\(service) does not answer: \(message)", advice: "Run attributionctl doctor to find the problem.")
    case .unknown:
      self.init(
        .unavailable, "\(service) cannot be called: \(message)", advice: "Check the address, and set the trust anchors with --ca-file.")
    case .notFound: self.init(.notFound, message)
    case .invalidArgument, .outOfRange: self.init(.refusedInput, message)
    case .failedPrecondition, .alreadyExists, .aborted: self.init(.notAllowedNow, message)
    case .resourceExhausted where error.reason == "REQUEST_TOO_LARGE": self.init(.refusedInput, message)
    case .resourceExhausted:
      self.init(.tryLater, message, advice: error.retryAfterSeconds.map { "Try again in \($0) s." })
    case .canceled: self.init(.interrupted, "stopped")
    case .unimplemented:
      self.init(
        .internalError, "\(service) does not know this method: \(message)",
        advice: "Check that the address belongs to this service and that the service is not older than attributionctl.")
    case .internal, .dataLoss: self.init(.internalError, "\(service) failed: \(message)", advice: "See its log.")
    }
  }
}
