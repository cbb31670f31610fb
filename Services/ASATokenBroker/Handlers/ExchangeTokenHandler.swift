import AppleAttribution
import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `ExchangeToken`: accepts a token into the queue `tokens`, as ingest does, and waits for the outcome as long as the caller chooses.
struct ExchangeTokenHandler: RPCHandler {
  typealias Method = TokenBrokerService.ExchangeToken
  /// When the caller closes the connection or the service ends, the wait is cancelled and the current state is returned.
  static let waits = true
  /// The longest wait, milliseconds.
  static let maxWait: Int64 = 30_000

  let deliveries: DeliveryQueue
  let reader: ExchangeReader
  let rule: AdServicesRetryRule
  let clock: ScaledClock
  let filter: ConsentFilter
  /// True if tokens of an app are accepted.
  let acceptsTokens: @Sendable (_ bundleId: String) -> Bool

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let receivedAt = clock.wall()
    let submission: TokenSubmission
    do {
      submission = try TokenSubmission(
        token: request.token, bundleId: request.bundleId, installId: request.installId,
        attStatus: request.attStatus.map { ATTStatus(code: Int64($0)) },
        requestedAt: request.requestedAt?.millisecondsSince1970, receivedAt: receivedAt)
    } catch {
      throw .invalidArgument(field: error.field, error.reason)
    }
    guard acceptsTokens(submission.claims.bundleId) else {
      throw .invalidArgument(field: "bundleId", "is not a configured app")
    }
    let wait = Int64(request.waitMilliseconds ?? 0)
    guard (0...Self.maxWait).contains(wait) else {
      throw .invalidArgument(field: "waitMilliseconds", "must be 0 to \(Self.maxWait)")
    }
    let accepted = try await accept(submission, context, receivedAt: receivedAt)
    let id = accepted.id
    do throws(RPCError) {
      // 200 ms of the call's time remain for the last query and the response.
      let exchange = try await reader.decided(
        id, adding: submission.claims, within: min(.milliseconds(wait), context.remaining - .milliseconds(200)))
      return ExchangeTokenResponse(id: id.description, exchange, filter)
    } catch {
      guard accepted.isDuplicate, error.code == .notFound else { throw error }
      let delivery: DeliveryRecord?
      do { delivery = try await deliveries.delivery(id) } catch { throw .queue(error) }
      guard delivery?.state != .dead else {
        return ExchangeTokenResponse(
          exchangeId: id.description, state: Exchange.State.failed.rawValue,
          reason: "the token is a dead letter, because it could not be processed")
      }
      // The token was accepted so long ago that its outcome is not stored any more, so the token itself has expired too.
      return ExchangeTokenResponse(
        exchangeId: id.description, state: Exchange.State.expired.rawValue, reason: "the outcome is no longer stored")
    }
  }

  private func accept(
    _ submission: TokenSubmission, _ context: RPCContext, receivedAt: Int64
  ) async throws(RPCError) -> AcceptOutcome {
    var notBefore: Int64?
    if case .call(let at) = rule.start(createdAt: submission.claims.createdAt, now: receivedAt), at > receivedAt {
      notBefore = at
    }
    do {
      var accept = AcceptRequest(
        queue: .tokens, idempotencyKey: submission.idempotencyKey, naturalKey: submission.idempotencyKey,
        message: QueueMessage(
          kind: TokenSubmission.messageKind, body: Array(submission.token.text.utf8),
          attributes: submission.claims.attributes,
          receivedAt: receivedAt, source: "rpc", traceparent: context.traceparent, requestId: context.requestId),
        notBefore: notBefore, deadline: clock.real(submission.claims.deadline, since: receivedAt))
      let outcome = try await deliveries.accept(accept)
      if outcome.isDuplicate {
        // What this submission adds to the earlier one follows in a message of its own.
        accept.idempotencyKey = submission.additionKey
        accept.message.kind = TokenSubmission.additionKind
        accept.message.body = []
        accept.message.attributes[TokenSubmission.exchangeAttribute] = outcome.id.description
        accept.notBefore = nil
        _ = try await deliveries.accept(accept)
      }
      return outcome
    } catch {
      throw .queue(error)
    }
  }
}
