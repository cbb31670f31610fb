import AppleAttribution
import AttributionProtocol
import AttributionQueue

/// Reads exchanges for RPCs, and applies to them what later submissions of their tokens say and withdrawals of consent.
struct ExchangeReader: Sendable {
  let deliveries: DeliveryQueue
  let store: ExchangeStore
  let consent: ConsentCheck

  /// An exchange; nil if its token was accepted and Apple was not called yet. Throws `not_found` if there is no such exchange, or if it has
  /// expired.
  ///
  /// - Parameter claims: what the caller says about the token. The response reports it as if it were added already.
  func exchange(_ id: DeliveryID, adding claims: TokenClaims? = nil) async throws(RPCError) -> Exchange? {
    if let exchange = try await stored(id) { return try await checked(try await current(exchange, id), adding: claims) }
    let delivery = try await delivery(id)
    if let delivery, delivery.queue == QueueName.tokens.rawValue, delivery.state == .accepted { return nil }
    // The exchange may have begun and ended between the two queries.
    if delivery?.queue == QueueName.tokens.rawValue, let exchange = try await stored(id) {
      return try await checked(exchange, adding: claims)
    }
    throw RPCError.notFound("no such exchange, or its outcome is no longer stored")
  }

  /// The exchange as soon as it is decided, or its state when the wait has ended or is cancelled.
  func decided(_ id: DeliveryID, adding claims: TokenClaims, within wait: Duration) async throws(RPCError) -> Exchange? {
    let end = ContinuousClock.now + wait
    var pause = Duration.milliseconds(20)
    while ContinuousClock.now < end {
      if let exchange = try await stored(id), try await current(exchange, id).outcome != nil {
        return try await checked(exchange, adding: claims)
      }
      // The wait is cancelled if the caller has closed the connection, or the service ends.
      do { try await Task.sleep(for: min(pause, end - ContinuousClock.now)) } catch { break }
      pause = min(pause * 2, .milliseconds(250))
    }
    return try await exchange(id, adding: claims)
  }

  /// The exchange, undecided if Apple is being asked again: the token was accepted again after such an outcome.
  private func current(_ exchange: Exchange, _ id: DeliveryID) async throws(RPCError) -> Exchange {
    guard exchange.mayBeAskedAgain else { return exchange }
    // It may have ended again between the two queries.
    guard try await delivery(id)?.state == .accepted else { return try await stored(id) ?? exchange }
    var next = exchange
    next.beginRound()
    return next
  }

  private func delivery(_ id: DeliveryID) async throws(RPCError) -> DeliveryRecord? {
    do { return try await deliveries.delivery(id) } catch { throw .queue(error) }
  }

  private func checked(_ exchange: Exchange, adding claims: TokenClaims?) async throws(RPCError) -> Exchange {
    var exchange = exchange
    if let claims { exchange.join(claims) }
    do {
      if let id = DeliveryID(exchange.id) {
        for claims in try await store.additions(to: id) { exchange.join(claims) }
      }
      return try await consent.checked(exchange)
    } catch { throw .store(error) }
  }

  private func stored(_ id: DeliveryID) async throws(RPCError) -> Exchange? {
    do { return try await store.exchange(id) } catch { throw .store(error) }
  }
}
