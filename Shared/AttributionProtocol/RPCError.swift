public import WireJSON

/// The error of a call: a code, a message for developers and details that programs can use. It contains no secret and no value of the
/// request.
///
/// Handlers throw it, `RPCError+JSON.swift` writes it into the answer, and the client reads it from there (`RPCError+Reading.swift`).
public struct RPCError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The path of a field with an invalid value, and a text that says what is wrong.
  public struct FieldViolation: Sendable, Hashable {
    public let field: String
    public let description: String

    public init(field: String, description: String) {
      self.field = field
      self.description = description
    }
  }

  public var code: RPCCode
  /// A short English message for developers.
  public var message: String
  /// A stable reason in UPPER_SNAKE_CASE.
  public var reason: String?
  public var metadata: [String: String]
  /// The time after which the same request may be sent again.
  public var retryDelay: Duration?
  public var fieldViolations: [FieldViolation]

  public init(
    _ code: RPCCode, _ message: String, reason: String? = nil, metadata: [String: String] = [:],
    retryDelay: Duration? = nil,
    fieldViolations: [FieldViolation] = []
  ) {
    self.code = code
    self.message = message
    self.reason = reason
    self.metadata = metadata
    self.retryDelay = retryDelay
    self.fieldViolations = fieldViolations
  }

  /// The error for an invalid value of a field. `field` is the field's path; it is empty if the whole request is invalid.
  public static func invalidArgument(field: String, _ description: String) -> RPCError {
    RPCError(
      .invalidArgument, field.isEmpty ? description : "\(field): \(description)",
      fieldViolations: field.isEmpty ? [] : [FieldViolation(field: field, description: description)])
  }

  /// The error for a request that could not be read.
  public static func invalidArgument(_ error: JSONError) -> RPCError {
    invalidArgument(field: error.path, error.reason)
  }

  /// - Parameter field: the field that names the missing object.
  public static func notFound(_ message: String, field: String? = nil) -> RPCError {
    RPCError(.notFound, message, fieldViolations: field.map { [FieldViolation(field: $0, description: message)] } ?? [])
  }

  public static func failedPrecondition(_ message: String, reason: String? = nil) -> RPCError {
    RPCError(.failedPrecondition, message, reason: reason)
  }

  public static func unavailable(_ message: String, reason: String? = nil, retryAfter: Duration = .seconds(1))
    -> RPCError
  {
    RPCError(.unavailable, message, reason: reason, retryDelay: retryAfter)
  }

  public static func unimplemented(_ message: String) -> RPCError { RPCError(.unimplemented, message) }

  /// The error for a fault of the service itself. The caller learns nothing about the cause, which is only logged.
  public static func internalError(_ message: String = "internal error") -> RPCError { RPCError(.internal, message) }

  public var description: String { "\(code.rawValue): \(message)" }

  /// The value of the header `Retry-After`: ``retryDelay`` in whole seconds, rounded up.
  public var retryAfterSeconds: Int64? {
    retryDelay.map { $0.components.seconds + ($0.components.attoseconds > 0 ? 1 : 0) }
  }
}
