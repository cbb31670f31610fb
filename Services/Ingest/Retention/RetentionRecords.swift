import AppStore
import AttributionQueue
import Logging
import ServiceRuntime
import Synchronization

/// Stores the answer to each request in Redis, so that every instance gives the same answer to a repeated request. In the same step it
/// accepts a message from which verifier publishes one event for each request.
///
/// While Redis is unavailable, requests are answered nevertheless. Answers that could not be stored wait in memory, up to
/// `retention.pendingEvents`, and are stored when Redis is available again.
final class RetentionRecords: Sendable {
  /// An answer that is to be stored.
  private struct Pending: Sendable {
    let answer: StoredAnswer
    let naturalKey: String
    let signedPayload: String
    let bundleId: String
    /// The message for the queue, still without its body.
    let message: QueueMessage
  }

  private struct State {
    /// The last answers of this instance, by natural key. They answer repeated requests, also while Redis is unavailable.
    var recent: [String: StoredAnswer] = [:]
    /// The keys of `recent`. When it is full, it is a ring, and `next` is the index of the oldest key.
    var order: [String] = []
    var next = 0
    /// Answers that wait until Redis is available.
    var pending: [Pending] = []
    /// True if pending answers will not be stored any more, because the service ends.
    var hasEnded = false
  }

  private static let maxRecent = 4096
  /// The interval at which pending answers are tried again.
  private static let retryInterval: Duration = .milliseconds(500)

  private let deliveries: DeliveryQueue
  private let settings: @Sendable () -> RetentionSettings
  private let metrics: RetentionMetrics
  private let logger: Logger
  private let state = Mutex(State())

  init(
    deliveries: DeliveryQueue, metrics: RetentionMetrics, logger: Logger,
    settings: @escaping @Sendable () -> RetentionSettings
  ) {
    self.deliveries = deliveries
    self.metrics = metrics
    self.logger = logger
    self.settings = settings
  }

  /// The answer that this instance gave to the same request before; nil if there is none.
  func recent(_ realtimeRequest: RealtimeRequest) -> StoredAnswer? {
    state.withLock { $0.recent[realtimeRequest.naturalKey] }
  }

  /// Stores an answer and accepts the message for its event. Returns the answer that counts: an earlier answer of any instance to the same
  /// request, if there is one.
  func record(
    _ answer: StoredAnswer, _ realtimeRequest: RealtimeRequest, signedPayload: String, bundleId: String, _ request: PublicHTTPRequest
  ) async -> StoredAnswer {
    let pending = Pending(
      answer: answer, naturalKey: realtimeRequest.naturalKey, signedPayload: signedPayload, bundleId: bundleId,
      message: request.message(kind: RetentionRecord.kind, body: [], attributes: [RetentionRecord.bundleIdAttribute: bundleId]))
    guard let counted = await store(pending) else {
      postpone(pending)
      return answer
    }
    if !counted.isSame(as: answer) { metrics.replayed() }
    remember(counted, realtimeRequest.naturalKey, replaces: true)
    return counted
  }

  /// Remembers the answer that was sent, for repeated requests. An answer of which it is known that it counts is not replaced.
  func answered(_ answer: StoredAnswer, _ realtimeRequest: RealtimeRequest) {
    remember(answer, realtimeRequest.naturalKey, replaces: false)
  }

  /// Stores pending answers until its task is cancelled, and then once more.
  func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.retryInterval) } catch { break }
      await storePending()
    }
    await storePending()
    let remaining = state.withLock { state in
      state.hasEnded = true
      return state.pending.count
    }
    if remaining > 0 { logger.error("retention answers were not stored; their events are lost", metadata: ["count": "\(remaining)"]) }
  }

  private func storePending() async {
    while let first = state.withLock({ $0.pending.first }) {
      guard let counted = await store(first) else { return }
      remember(counted, first.naturalKey, replaces: true)
      let count = state.withLock { state in
        state.pending.removeFirst()
        return state.pending.count
      }
      metrics.pendingEvents(count)
    }
  }

  /// Keeps an answer in memory until it can be stored, if there is room.
  private func postpone(_ pending: Pending) {
    let maxPending = settings().pendingEvents
    let (count, isAdded) = state.withLock { state in
      let isAdded = !state.hasEnded && state.pending.count < maxPending
      if isAdded { state.pending.append(pending) }
      return (state.pending.count, isAdded)
    }
    metrics.pendingEvents(count)
    guard !isAdded else { return }
    metrics.droppedEvent()
    logger.error(
      "a retention answer cannot be stored, and too many answers wait already; its event is lost", metadata: ["app": "\(pending.bundleId)"])
  }

  /// Stores an answer, or finds the earlier one. Returns the answer that counts; nil if Redis does not answer or the queue is full.
  private func store(_ pending: Pending) async -> StoredAnswer? {
    do {
      let record = OwnRecord(service: "ingest", name: pending.naturalKey, value: pending.answer.bytes, ttl: settings().answersKept)
      guard case .earlier(let bytes) = try await deliveries.accept(request(pending, pending.answer), keeping: record) else {
        return pending.answer
      }
      // If a newer build stored the answer in a format that this one cannot read, the event contains the present answer.
      let counted = StoredAnswer(bytes: bytes) ?? pending.answer
      // The instance that stored the answer may have died, or the queue was full, before the message was accepted. The queue accepts the
      // message once.
      _ = try await deliveries.accept(request(pending, counted))
      return counted
    } catch {
      logger.debug("a retention answer is not stored yet", metadata: ["reason": "\(error)"])
      return nil
    }
  }

  private func request(_ pending: Pending, _ answer: StoredAnswer) -> AcceptRequest {
    var message = pending.message
    message.body = RetentionRecord.body(signedPayload: pending.signedPayload, answer: answer.answer, decision: answer.decision)
    return AcceptRequest(
      queue: .intake, idempotencyKey: pending.naturalKey, naturalKey: pending.naturalKey, message: message, isKnownBriefly: true)
  }

  /// - Parameter replaces: true to replace an answer that is remembered for this key.
  private func remember(_ answer: StoredAnswer, _ key: String, replaces: Bool) {
    state.withLock { state in
      if !replaces, state.recent[key] != nil { return }
      guard state.recent.updateValue(answer, forKey: key) == nil else { return }
      if state.order.count < Self.maxRecent {
        state.order.append(key)
      } else {
        state.recent[state.order[state.next]] = nil
        state.order[state.next] = key
        state.next = (state.next + 1) % Self.maxRecent
      }
    }
  }
}
