import RedisClient

extension DeliveryQueue {
  /// Stores a service's value about a leased message before the message is settled. Returns false, and stores nothing, if the worker has
  /// lost the lease: another worker may have stored the outcome under the same key (``Completion/ownRecord``). Only for a queue that is
  /// worked by deadline, because only its messages are leased in every form of the store.
  @discardableResult
  public func keep(_ record: OwnRecord, while lease: LeasedMessage) async throws(QueueError) -> Bool {
    let reply = try await run(
      Scripts.keepOwn, [Keys.ready(lease.queue, lease.shard), Keys.own(record.service, record.name, lease.shard)],
      [
        .string(Self.group), .string(lease.consumer), .string(lease.entryID), .integer(lease.deliveryCount), .bytes(record.value),
        .integer(record.ttl.wholeSeconds),
      ])
    return reply.integer == 1
  }
}
