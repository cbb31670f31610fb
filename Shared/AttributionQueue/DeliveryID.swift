/// The name of a delivery: its shard and a digest of its idempotency key. The same bytes have the same id.
public struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
  public let shard: Shard
  /// 32 hexadecimal digits.
  public let digest: String

  init(shard: Shard, digest: String) {
    self.shard = shard
    self.digest = digest
  }

  /// Reads `017-<32 hex digits>`; nil for anything else.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 3, parts[0].utf8.allSatisfy({ (48...57).contains($0) }),
      let index = Int(parts[0]), (0..<Shard.count).contains(index),
      parts[1].utf8.count == 32, parts[1].utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else { return nil }
    shard = Shard(index)
    digest = String(parts[1])
  }

  public var description: String { shard.digits + "-" + digest }
}
