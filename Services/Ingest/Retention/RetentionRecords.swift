import AppStore
import AttributionQueue
import Logging
import ServiceRuntime
import Synchronization

/// Keeps the answer to each request, so that the same request is answered the same by every instance, and has each told by one event.
///
/// While Redis is away answers are given all the same: what could not be stored waits in memory, up to a bound, and is stored when it is
/// back.
final class RetentionRecords: Sendable {
  /// An answer that is not stored yet.
  private struct Pending: Sendable {
    let kept: KeptAnswer
    let naturalKey: String
    let signedPayload: String
    let bundleId: String
    /// Without its body.
    let message: QueueMessage
  }

  private struct State {
    var recent: [String: KeptAnswer] = [:]
    /// The keys of `recent` in the order of their coming, a ring.
    var order: [String] = []
    var next = 0
    var pending: [Pending] = []
    /// True once nothing that waits is stored any more.
    var isEnded = false
  }

  /// Answers that this instance knows itself, for repeats while Redis is away.
  private static let mostRecent = 4096
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

  /// What this instance answered to the same request.
  func recent(_ question: RealtimeRequest) -> KeptAnswer? { state.withLock { $0.recent[question.naturalKey] } }

  /// Stores an answer and has it told; answers the one that counts: an earlier one to the same request, if there is any.
  func record(
    _ answer: KeptAnswer, _ question: RealtimeRequest, signedPayload: String, bundleId: String, _ request: PublicRequest
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

  /// What was answered, for repeats while it is not known what counts.
  func answered(_ answer: KeptAnswer, _ question: RealtimeRequest) { remember(answer, question.naturalKey, replaces: false) }

  /// Stores what waits, until its task is cancelled, and then once more.
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
    if left > 0 { logger.error("retention answers were not stored: no event tells of them", metadata: ["count": "\(left)"]) }
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
    let most = settings().pendingEvents
    let (count, isKept) = state.withLock { state in
      let isKept = !state.isEnded && state.pending.count < most
      if isKept { state.pending.append(pending) }
      return (state.pending.count, isKept)
    }
    metrics.pendingEvents(count)
    guard !isKept else { return }
    metrics.droppedEvent()
    logger.error(
      "a retention answer cannot be stored and no more may wait: no event tells of it", metadata: ["app": "\(pending.bundleId)"])
  }

  /// Nil where Redis does not take it.
  private func store(_ pending: Pending) async -> KeptAnswer? {
    do {
      let record = OwnRecord(service: "ingest", name: pending.naturalKey, value: pending.kept.bytes, life: settings().answersKept)
      guard case .earlier(let bytes) = try await deliveries.accept(request(pending, pending.kept), keeping: record) else {
        return pending.kept
      }
      // One that cannot be read, of another version, is told by what is answered now.
      let counted = KeptAnswer(bytes: bytes) ?? pending.kept
      // Whoever kept it may have found the queue full, or died: it is accepted once, by whomever.
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
      if state.order.count < Self.mostRecent {
        state.order.append(key)
      } else {
        state.recent[state.order[state.next]] = nil
        state.order[state.next] = key
        state.next = (state.next + 1) % Self.mostRecent
      }
    }
  }
}
