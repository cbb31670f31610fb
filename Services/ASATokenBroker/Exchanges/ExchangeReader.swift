import AttributionProtocol
import AttributionQueue

/// Reads exchanges for RPCs, and applies withdrawals of consent to them.
struct ExchangeReader: Sendable {
  let deliveries: DeliveryQueue
  let store: ExchangeStore
  let consent: ConsentCheck

  /// An exchange; nil if its token was accepted and Apple was not called yet. Throws `not_found` if there is no such exchange, or if it has
  /// expired.
  func exchange(_ id: DeliveryID) async throws(RPCError) -> Exchange? {
    if let exchange = try await stored(id) { return try await checked(exchange) }
    let delivery: DeliveryRecord?
    do { delivery = try await deliveries.delivery(id) } catch { throw .queue(error) }
    if let delivery, delivery.queue == QueueName.tokens.rawValue, delivery.state == .accepted { return nil }
    // The exchange may have begun and ended between the two queries.
    if delivery?.queue == QueueName.tokens.rawValue, let exchange = try await stored(id) { return try await checked(exchange) }
    throw RPCError.notFound("no such exchange, or its outcome is no longer stored")
  }

  /// The exchange as soon as it is decided, or its state when the wait has ended or is cancelled.
  func decided(_ id: DeliveryID, within wait: Duration) async throws(RPCError) -> Exchange? {
    let end = ContinuousClock.now + wait
    var pause = Duration.milliseconds(20)
    while ContinuousClock.now < end {
      if let exchange = try await stored(id), exchange.outcome != nil { return try await checked(exchange) }
      // The wait is cancelled if the caller has closed the connection, or the service ends.
      do { try await Task.sleep(for: min(pause, end - ContinuousClock.now)) } catch { break }
      pause = min(pause * 2, .milliseconds(250))
    }
    return try await exchange(id)
  }

  private func checked(_ exchange: Exchange) async throws(RPCError) -> Exchange {
    do { return try await consent.checked(exchange) } catch { throw .store(error) }
  }

  private func stored(_ id: DeliveryID) async throws(RPCError) -> Exchange? {
    do { return try await store.exchange(id) } catch { throw .store(error) }
  }
}
