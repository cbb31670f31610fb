import AttributionProtocol
import Synchronization

/// A reader of a subscription: its leased events, and the calls about them.
final class ReaderCore: Sendable {
  let leases = Mutex(EventLeases())
  private let events: EventsServiceClient
  private let subscription: String
  private let options: ReaderOptions
  /// The interval at which acknowledgements are sent while events are processed.
  private static let tick: Duration = .milliseconds(200)
  /// The number of errors with the code `unknown` or `internal`, without a successful pull in between, after which reading fails.
  private static let maxUnexplained = 5
  /// The greatest number of events that one call acknowledges or gives back.
  private static let maxPerCall = 1000

  init(_ events: EventsServiceClient, _ subscription: String, _ options: ReaderOptions) {
    self.events = events
    self.subscription = subscription
    self.options = options.bounded
  }

  /// The next event; requesting it acknowledges the previous one. If the task was cancelled, tries once to send all acknowledgements and
  /// returns nil.
  func next() async throws(RPCError) -> ReceivedEvent? {
    leases.withLock { $0.finish() }
    var (failures, unexplained) = (0, 0)
    var since: ContinuousClock.Instant?
    while !Task.isCancelled {
      if let held = leases.withLock({ $0.begin(now: .now) }) {
        return ReceivedEvent(event: held.event, ackId: held.ackId, reader: self)
      }
      do throws(RPCError) {
        // Acknowledgements are sent first, because if order is kept, the following events come only after them.
        try await sendAcknowledgements()
        try await pull()
        (failures, unexplained, since) = (0, 0, nil)
      } catch {
        if Task.isCancelled { break }
        guard Self.isTransient(error) else { throw error }
        if error.code == .unknown || error.code == .internal {
          unexplained += 1
          if unexplained >= Self.maxUnexplained { throw error }
        }
        let began = since ?? .now
        since = began
        if let patience = options.patience, began.duration(to: .now) > patience { throw error }
        failures += 1
        let pause = Duration.milliseconds(100) * (1 << min(failures, 6)) * Double.random(in: 0.5...1)
        try? await Task.sleep(for: max(pause, error.retryDelay ?? .zero))
      }
    }
    // A separate task, because this one is cancelled.
    await Task { await self.end() }.value
    return nil
  }

  /// Sends acknowledgements and extends leases until it is cancelled.
  func keep() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.tick) } catch { return }
      // Failures are retried at the next tick.
      try? await sendAcknowledgements()
      try? await extend()
    }
  }

  /// Releases events that were not processed, and acknowledges those that were.
  func end() async {
    leases.withLock { $0.releaseAll() }
    try? await sendAcknowledgements()
  }

  // MARK: Calls

  private func pull() async throws(RPCError) {
    let asked = ContinuousClock.now
    let response = try await events.pullEvents(
      PullEventsRequest(
        subscription: subscription, maxEvents: Int32(options.held), waitMilliseconds: Int32(options.wait / .milliseconds(1)),
        leaseSeconds: Int32(leaseSeconds)), options: CallOptions(timeout: options.wait + .seconds(15)))
    // The lease began at an unknown time during the call, because the server may have waited for events. It counts from the call, or from a
    // second before the answer if that is later.
    let until = max(asked, ContinuousClock.now - .seconds(1)) + .seconds(leaseSeconds)
    leases.withLock { leases in
      leases.add(response.events.map { ($0.ackId, CloudEvent($0.event ?? [:])) }, until: until)
    }
  }

  /// Acknowledges processed events, and gives back the leases of released ones.
  private func sendAcknowledgements() async throws(RPCError) {
    let done = leases.withLock { $0.takeDone() }
    for ackIds in Self.parts(done) {
      do throws(RPCError) {
        _ = try await events.acknowledgeEvents(AcknowledgeEventsRequest(subscription: subscription, ackIds: ackIds))
      } catch {
        leases.withLock { $0.restore(done: ackIds) }
        throw error
      }
    }
    let released = leases.withLock { $0.takeReleased() }
    for ackIds in Self.parts(released) {
      do throws(RPCError) {
        _ = try await events.modifyLease(ModifyLeaseRequest(subscription: subscription, ackIds: ackIds, leaseSeconds: 0))
      } catch {
        leases.withLock { $0.restore(released: ackIds) }
        throw error
      }
    }
  }

  private func extend() async throws(RPCError) {
    let ackIds = leases.withLock { $0.toExtend(now: .now, margin: options.lease * 2 / 3) }
    guard !ackIds.isEmpty else { return }
    let asked = ContinuousClock.now
    let response = try await events.modifyLease(
      ModifyLeaseRequest(subscription: subscription, ackIds: ackIds, leaseSeconds: Int32(leaseSeconds)))
    leases.withLock { leases in
      leases.extend(ackIds, until: asked + .seconds(leaseSeconds))
      if Int(response.modified ?? 0) < ackIds.count { leases.releaseWaiting() }
    }
  }

  private var leaseSeconds: Int64 { max(1, Int64(options.lease / .seconds(1))) }

  private static func parts(_ ackIds: [String]) -> [[String]] {
    stride(from: 0, to: ackIds.count, by: maxPerCall).map { Array(ackIds[$0..<min($0 + maxPerCall, ackIds.count)]) }
  }

  private static func isTransient(_ error: RPCError) -> Bool {
    switch error.code {
    case .unavailable, .aborted, .resourceExhausted, .deadlineExceeded, .canceled, .unknown, .internal: true
    case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange, .unimplemented, .dataLoss,
      .unauthenticated:
      false
    }
  }
}
