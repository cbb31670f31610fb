import RedisClient

/// The state of an event in a subscription.
public enum ReaderState: String, Sendable, Hashable {
  /// The subscription's types or filter exclude the event.
  case unwanted
  /// The event was not handed out yet.
  case waiting
  /// The event was handed out or posted, and it is not acknowledged.
  case leased
  /// The subscription has settled the event, or lost it (``SubscriptionBacklog/dropped``).
  case done
}

/// An event and its state in each subscription.
public struct EventWithReaders: Sendable {
  public let event: StoredEvent
  public let readers: [(subscription: String, state: ReaderState)]
}

extension EventFeed {
  /// The event with that id, and its state in each subscription; nil if it is not stored.
  public func eventWithReaders(_ id: String) async throws(EventFeedError) -> EventWithReaders? {
    guard let (shard, entry) = try await location(ofEvent: id) else { return nil }
    let reply = try await send(["XRANGE", .string(Keys.events(shard)), .string(entry.text), .string(entry.text)])
    guard let event = Self.stored(reply).first else { return nil }
    let attributes = event.attributes ?? EventAttributes(describing: event.json, type: event.type)
    let groups = try await lastDelivered(shard)
    var readers: [(String, ReaderState)] = []
    for subscription in try await subscriptions() {
      guard subscription.filter.wants(attributes, type: event.type, types: subscription.types, names: names) else {
        readers.append((subscription.name, .unwanted))
        continue
      }
      let state =
        subscription.push == nil
        ? try await pulled(subscription.name, shard, entry, groups[subscription.name])
        : try await pushed(subscription.name, shard, entry)
      readers.append((subscription.name, state))
    }
    return EventWithReaders(event: event, readers: readers)
  }

  /// The last read entry of each consumer group of a shard's stream.
  private func lastDelivered(_ shard: Shard) async throws(EventFeedError) -> [String: EntryID] {
    let reply = try await sendAllowingErrors(["XINFO", "GROUPS", .string(Keys.events(shard))])
    var found: [String: EntryID] = [:]
    for group in reply.array ?? [] {
      let fields = Self.fields(group)
      guard let name = fields["name"]?.string else { continue }
      found[name] = fields["last-delivered-id"]?.string.flatMap { EntryID($0) }
    }
    return found
  }

  /// The state of an event in a pulled subscription. `last`: the last entry that the subscription's consumer group has read.
  private func pulled(_ name: String, _ shard: Shard, _ entry: EntryID, _ last: EntryID?) async throws(EventFeedError) -> ReaderState {
    guard let last, last >= entry else { return .waiting }
    let pending = try await sendAllowingErrors([
      "XPENDING", .string(Keys.events(shard)), .string(name), .string(entry.text), .string(entry.text), "1",
    ])
    guard let lease = pending.array?.first?.array, lease.count > 1 else { return .done }
    // Events of the consumer named 0 can be leased immediately (pull.lua).
    return lease[1].string == "0" ? .waiting : .leased
  }

  /// The state of an event in a pushed subscription.
  private func pushed(_ name: String, _ shard: Shard, _ entry: EntryID) async throws(EventFeedError) -> ReaderState {
    let position = try await send(["HGET", .string(Keys.eventPositions(shard)), .string(name)]).string ?? ""
    let parts = position.split(separator: " ")
    guard parts.count == 3, let settledUpTo = EntryID(String(parts[1])) else { return .waiting }
    guard settledUpTo < entry else { return .done }
    // After its position, the subscription has settled everything up to a cursor except for the listed events: ``UnsettledEvents``.
    let unsettled = try await send(["HGET", .string(Keys.unsettledEvents(shard)), .string(name)]).string ?? ""
    let words = unsettled.split(separator: " ")
    guard words.count >= 4, words[0] == parts[0], let cursor = EntryID(String(words[1])) else { return .waiting }
    if words.dropFirst(4).contains(Substring(entry.text)) { return .leased }
    return cursor >= entry ? .done : .waiting
  }
}
