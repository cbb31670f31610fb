/// The meaning of a key by its name: the inverse of ``Keys``.
enum KeyForm: Equatable {
  case record(DeliveryID)
  case line(QueueName, Shard, String)
  case other
  /// A key with a shard's tag and an unknown name.
  case unknown(Shard)
  /// A key without a shard's tag: another program's.
  case foreign

  private static let services: Set<Substring> = ["verifier", "recovery", "ingest", "signer", "asa-token-broker", "commerce"]
  private static let ofShard: Set<Substring> = [
    "events", "events:index", "events:positions", "events:dropped", "events:unsettled", "events:originals", "rejected", "confirmation",
  ]
  /// A key that exists once, in the first shard.
  private static let single: Set<Substring> = [
    "subscriptions", "digest-key", "form", "events:listed", "push:pushers", "push:owners", "push:health",
  ]
  private static let ofQueue: Set<Substring> = ["", "delayed", "payloads", "dead", "owner", "suspects", "deadlines"]
  private static let ofQueueOnce: Set<Substring> = ["workers", "paused", "schedule", "wakes"]

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
    if Self.ofShard.contains(name) || Self.single.contains(name) && shard.index == 0 {
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

  private static func queue(_ text: Substring, _ shard: Shard) -> KeyForm {
    let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard let queue = QueueName(rawValue: String(words[0])) else { return .unknown(shard) }
    let name = words.count > 1 ? words[1] : ""
    if name.hasPrefix("line:") { return .line(queue, shard, String(name.dropFirst("line:".count))) }
    let isKnown = Self.ofQueue.contains(name) || Self.ofQueueOnce.contains(name) && shard.index == 0
    return isKnown ? .other : .unknown(shard)
  }
}
