/// The kind of a key by its name: the inverse of ``Keys``.
enum KeyKind: Equatable {
  /// The record of a delivery.
  case record(DeliveryID)
  /// An order line.
  case line(QueueName, Shard, String)
  /// Another key of this system.
  case other
  /// A key with a shard's tag and an unknown name.
  case unknown(Shard)
  /// A key without a shard's tag: another program's.
  case foreign

  /// The services in ``Keys/own(_:_:_:)``.
  private static let services: Set<Substring> = ["verifier", "recovery", "ingest", "signer", "asa-token-broker", "commerce"]
  /// Names that occur in each shard.
  private static let ofShard: Set<Substring> = [
    "events", "events:index", "events:positions", "events:dropped", "events:unsettled", "events:originals", "rejected",
    "rejected:bodies", "rejected:index", "rejected:sizes", "confirmation",
  ]
  /// Names that occur once, in the first shard.
  private static let ofFirstShard: Set<Substring> = [
    "subscriptions", "subscriptions:generation", "digest-key", "form", "events:listed", "push:pushers", "push:owners", "push:health",
  ]
  /// Suffixes of the names of a queue that occur in each shard.
  private static let ofQueue: Set<Substring> = ["", "delayed", "payloads", "dead", "owner", "suspects", "deadlines"]
  /// Suffixes of the names of a queue that occur once, in the first shard.
  private static let ofQueueInFirstShard: Set<Substring> = ["workers", "paused", "schedule", "wakes"]

  init(_ key: String) {
    guard let shard = Keys.shard(of: key) else {
      self = .foreign
      return
    }
    let tag = Keys.tag(shard)
    guard key.utf8.dropFirst(tag.utf8.count).first == UInt8(ascii: ":") else {
      self = .unknown(shard)
      return
    }
    let name = key[key.index(key.startIndex, offsetBy: tag.count + 1)...]
    let parts = name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.count > 1 ? parts[1] : ""
    if Self.ofShard.contains(name) || Self.ofFirstShard.contains(name) && shard.index == 0 {
      self = .other
      return
    }
    switch parts[0] {
    case "r":
      self = DeliveryID(shard.digits + "-" + rest).map { .record($0) } ?? .unknown(shard)
    case "q":
      self = Self.queue(rest, shard)
    case "seen":
      let words = rest.split(separator: ":", omittingEmptySubsequences: false)
      let isKnown =
        words.count == 3 && DeduplicationScope(rawValue: String(words[0])) != nil && Int64(words[1]) != nil && Int64(words[2]) != nil
      self = isKnown ? .other : .unknown(shard)
    case "rpc" where !rest.isEmpty:
      self = .other
    case let service where Self.services.contains(service) && !rest.isEmpty:
      self = .other
    default:
      self = .unknown(shard)
    }
  }

  private static func queue(_ text: Substring, _ shard: Shard) -> KeyKind {
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let queue = QueueName(rawValue: String(words[0])) else { return .unknown(shard) }
    let name = words.count > 1 ? words[1] : ""
    if name.hasPrefix("line:") { return .line(queue, shard, String(name.dropFirst("line:".count))) }
    let isKnown = Self.ofQueue.contains(name) || Self.ofQueueInFirstShard.contains(name) && shard.index == 0
    return isKnown ? .other : .unknown(shard)
  }
}
