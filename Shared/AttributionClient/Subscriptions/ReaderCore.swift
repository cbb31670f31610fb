import AttributionProtocol
import Synchronization

/// A reader of a subscription: its leased events (``EventLeases``), and the calls that pull events, extend leases and acknowledge.
///
/// ``next()`` is called for each event, ``keepLeases()`` runs beside it as long as the reader exists, and ``end()`` is called at the end,
/// perhaps more than once.
final class ReaderCore: Sendable {
  let leases = Mutex(EventLeases())
  private let events: EventsServiceClient
  private let subscription: String
  private let options: ReaderOptions
  /// The interval at which acknowledgements are sent and leases are checked while events are processed.
  private static let interval: Duration = .milliseconds(200)
  /// The number of errors with the code `unknown` or `internal`, without a successful pull in between, after which reading fails. These
  /// codes may stand for a temporary or a permanent fault.
  private static let maxUnclearErrors = 5
  /// The greatest number of events that one call acknowledges or gives back.
  private static let maxPerCall = 1000

  init(_ events: EventsServiceClient, _ subscription: String, _ options: ReaderOptions) {
    self.events = events
    self.subscription = subscription
    self.options = options.limited
  }

  /// The next event; requesting it acknowledges the previous one. If the task was cancelled, tries once to send all acknowledgements and
  /// returns nil.
  func next() async throws(RPCError) -> ReceivedEvent? {
    leases.withLock { $0.finish() }
    var (failures, unclearErrors) = (0, 0)
    var failingSince: ContinuousClock.Instant?
    while !Task.isCancelled {
      if let leased = leases.withLock({ $0.begin(now: .now) }) {
        return ReceivedEvent(event: leased.event, ackId: leased.ackId, reader: self)
      }
      do throws(RPCError) {
        // Acknowledgements are sent first, because if order is kept, the next events of a subject come only after the acknowledgements.
        try await sendAcknowledgements()
        try await pull()
        (failures, unclearErrors, failingSince) = (0, 0, nil)
      } catch {
        if Task.isCancelled { break }
        guard Self.isTransient(error) else { throw error }
        if error.code == .unknown || error.code == .internal {
          unclearErrors += 1
          if unclearErrors >= Self.maxUnclearErrors { throw error }
        }
        let since = failingSince ?? .now
        failingSince = since
        if let timeout = options.patience, since.duration(to: .now) > timeout { throw error }
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
  func keepLeases() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.interval) } catch { return }
      // A failed call is repeated after the next interval.
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
    let calledAt = ContinuousClock.now
    let response = try await events.pullEvents(
      PullEventsRequest(
        subscription: subscription, maxEvents: Int32(options.held), waitMilliseconds: Int32(options.wait / .milliseconds(1)),
        leaseSeconds: Int32(leaseSeconds)), options: CallOptions(timeout: options.wait + .seconds(15)))
    // The server may have waited for events, and the lease began when it had some. Its response is assumed to have taken at most a second,
    // so the lease counts from one second before the response, but not from before the call.
    let until = max(calledAt, ContinuousClock.now - .seconds(1)) + .seconds(leaseSeconds)
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

  /// Extends leases after a third of their time, so that a failed call can be repeated before they end.
  private func extend() async throws(RPCError) {
    let ackIds = leases.withLock { $0.toExtend(now: .now, margin: options.lease * 2 / 3) }
    guard !ackIds.isEmpty else { return }
    let calledAt = ContinuousClock.now
    let response = try await events.modifyLease(
      ModifyLeaseRequest(subscription: subscription, ackIds: ackIds, leaseSeconds: Int32(leaseSeconds)))
    leases.withLock { leases in
      leases.extend(ackIds, until: calledAt + .seconds(leaseSeconds))
      // The server does not say which leases have ended.
      if Int(response.modified ?? 0) < ackIds.count { leases.releaseWaiting() }
    }
  }

  private var leaseSeconds: Int64 { max(1, Int64(options.lease / .seconds(1))) }

  private static func parts(_ ackIds: [String]) -> [[String]] {
    stride(from: 0, to: ackIds.count, by: maxPerCall).map { Array(ackIds[$0..<min($0 + maxPerCall, ackIds.count)]) }
  }

  /// True for errors after which a repeated call may succeed.
  private static func isTransient(_ error: RPCError) -> Bool {
    switch error.code {
    case .unavailable, .aborted, .resourceExhausted, .deadlineExceeded, .canceled, .unknown, .internal: true
    case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange, .unimplemented, .dataLoss,
      .unauthenticated:
      false
    }
  }
}
