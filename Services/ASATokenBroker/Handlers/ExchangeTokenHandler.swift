import AppleAttribution
import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `ExchangeToken`: hands a token in, as `ingest` does, and waits for the outcome as long as the caller likes.
struct ExchangeTokenHandler: RPCHandler {
  typealias Method = TokenBrokerService.ExchangeToken
  /// The longest wait, milliseconds.
  static let longestWait: Int64 = 30_000

  let deliveries: DeliveryQueue
  let reader: ExchangeReader
  let rule: AdServicesRetryRule
  let now: @Sendable () -> Int64

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let receivedAt = now()
    let submission: TokenSubmission
    do {
      submission = try TokenSubmission(
        token: request.token, bundleId: request.bundleId, installId: request.installId,
        attStatus: request.attStatus.map { ATTStatus(code: Int64($0)) } ?? .unavailable,
        requestedAt: request.requestedAt?.millisecondsSince1970, receivedAt: receivedAt)
    } catch {
      throw .invalidArgument(field: error.field, error.reason)
    }
    let wait = Int64(request.waitMilliseconds ?? 0)
    guard (0...Self.longestWait).contains(wait) else {
      throw .invalidArgument(field: "waitMilliseconds", "must be 0 to \(Self.longestWait)")
    }
    let id = try await accept(submission, context, receivedAt: receivedAt)
    let exchange = try await reader.decided(
      id, within: min(.milliseconds(wait), context.remaining - .milliseconds(200)))
    return ExchangeTokenResponse(id: id.description, exchange)
  }

  private func accept(
    _ submission: TokenSubmission, _ context: RPCContext, receivedAt: Int64
  ) async throws(RPCError) -> DeliveryID {
    var notBefore: Int64?
    if case .call(let at) = rule.start(createdAt: submission.createdAt, now: receivedAt), at > receivedAt {
      notBefore = at
    }
    do {
      return try await deliveries.accept(
        AcceptRequest(
          queue: .tokens, idempotencyKey: submission.idempotencyKey, naturalKey: submission.idempotencyKey,
          message: QueueMessage(
            kind: TokenSubmission.messageKind, body: Array(submission.token.text.utf8),
            attributes: submission.attributes,
            receivedAt: receivedAt, source: "rpc", traceparent: context.traceparent, requestId: context.requestId),
          notBefore: notBefore)
      ).id
    } catch {
      throw .queue(error)
    }
  }
}
