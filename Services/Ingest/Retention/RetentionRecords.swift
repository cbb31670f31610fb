import AppStore
import AttributionQueue
import Logging
import ServiceRuntime
import Synchronization

/// Stores the answer to each request, so that every instance gives the same answer to the same request, and publishes one event for each
/// request.
///
/// If Redis is unavailable, requests are answered nevertheless. Answers that could not be stored stay in memory, up to
/// `retention.pendingEvents`, and are stored when Redis is available again.
final class RetentionRecords: Sendable {
  /// An answer that is not stored yet.
  private struct Pending: Sendable {
    let kept: KeptAnswer
    let naturalKey: String
    let signedPayload: String
    let bundleId: String
    /// The message without its body.
    let message: QueueMessage
  }

  private struct State {
    var recent: [String: KeptAnswer] = [:]
    /// A ring with the keys of `recent`, from the oldest to the newest.
    var order: [String] = []
    var next = 0
    var pending: [Pending] = []
    /// True if pending answers are no longer stored.
    var isEnded = false
  }

  /// The size of `recent`, which answers repeats while Redis is unavailable.
  private static let maxRecent = 4096
  private static let pause: Duration = .milliseconds(500)

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

  /// The answer that this instance gave to the same request.
  func recent(_ question: RealtimeRequest) -> KeptAnswer? { state.withLock { $0.recent[question.naturalKey] } }

  /// Stores an answer and publishes its event. Returns the answer that counts: an earlier one to the same request, if there is one.
  func record(
    _ answer: KeptAnswer, _ question: RealtimeRequest, signedPayload: String, bundleId: String, _ request: PublicHTTPRequest
  ) async -> KeptAnswer {
    let pending = Pending(
      kept: answer, naturalKey: question.naturalKey, signedPayload: signedPayload, bundleId: bundleId,
      message: request.message(kind: RetentionRecord.kind, body: [], attributes: [RetentionRecord.bundleIdAttribute: bundleId]))
    guard let counted = await store(pending) else {
      postpone(pending)
      return answer
    }
    if !counted.isSame(as: answer) { metrics.replayed() }
    remember(counted, question.naturalKey, replaces: true)
    return counted
  }

  /// Remembers the given answer for repeats, as long as it is not known which answer counts.
  func answered(_ answer: KeptAnswer, _ question: RealtimeRequest) { remember(answer, question.naturalKey, replaces: false) }

  /// Stores pending answers until its task is cancelled, and then once more.
  func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.pause) } catch { break }
      await storePending()
    }
    await storePending()
    let left = state.withLock { state in
      state.isEnded = true
      return state.pending.count
    }
    if left > 0 { logger.error("retention answers were not stored; their events are lost", metadata: ["count": "\(left)"]) }
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

  private func postpone(_ pending: Pending) {
    let maxPending = settings().pendingEvents
    let (count, isKept) = state.withLock { state in
      let isKept = !state.isEnded && state.pending.count < maxPending
      if isKept { state.pending.append(pending) }
      return (state.pending.count, isKept)
    }
    metrics.pendingEvents(count)
    guard !isKept else { return }
    metrics.droppedEvent()
    logger.error(
      "a retention answer cannot be stored, and too many are pending; its event is lost", metadata: ["app": "\(pending.bundleId)"])
  }

  /// Returns nil if Redis does not store it.
  private func store(_ pending: Pending) async -> KeptAnswer? {
    do {
      let record = OwnRecord(service: "ingest", name: pending.naturalKey, value: pending.kept.bytes, life: settings().answersKept)
      guard case .earlier(let bytes) = try await deliveries.accept(request(pending, pending.kept), keeping: record) else {
        return pending.kept
      }
      // If the stored answer is of another version and cannot be read, the event contains the current one.
      let counted = KeptAnswer(bytes: bytes) ?? pending.kept
      // The instance that stored the answer may have found the queue full, or died. The queue accepts it once, from any instance.
      _ = try await deliveries.accept(request(pending, counted))
      return counted
    } catch {
      logger.debug("a retention answer is not stored yet", metadata: ["reason": "\(error)"])
      return nil
    }
  }

  private func request(_ pending: Pending, _ answer: KeptAnswer) -> AcceptRequest {
    var message = pending.message
    message.body = RetentionRecord.body(signedPayload: pending.signedPayload, answer: answer.answer, decision: answer.decision)
    return AcceptRequest(
      queue: .intake, idempotencyKey: pending.naturalKey, naturalKey: pending.naturalKey, message: message, isKnownBriefly: true)
  }

  private func remember(_ answer: KeptAnswer, _ key: String, replaces: Bool) {
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
