public import AttributionProtocol
public import Logging

/// What is known of a call beside its message.
public struct RPCContext: Sendable {
  /// The authenticated caller's name.
  public let caller: String
  public let requestId: String
  public let traceparent: String
  public let idempotencyKey: String?
  /// When the caller stops waiting.
  public let deadline: ContinuousClock.Instant
  public let limits: Limits
  public let logger: Logger

  public var remaining: Duration { ContinuousClock.now.duration(to: deadline) }
}

/// Answers one method: it parses, asks one rule, answers.
public protocol RPCHandler<Method>: Sendable {
  associatedtype Method: RPCMethod
  /// Whether the handler only computes: its time needs no watching.
  static var isImmediate: Bool { get }
  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response
}

extension RPCHandler {
  public static var isImmediate: Bool { false }
}
