/// The name of a delivery: its shard and a digest of its idempotency key. The same bytes have the same id.
public struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
  public let shard: Shard
  /// `017-` and 32 hexadecimal digits.
  public let description: String

  init(shard: Shard, digest: String) {
    self.shard = shard
    description = shard.digits + "-" + digest
  }

  /// Reads `017-<32 hex digits>`; nil for anything else.
  public init?(_ text: String) {
    let bytes = text.utf8
    guard bytes.count == 36 else { return nil }
    var index = 0
    for (place, byte) in bytes.enumerated() {
      switch (place, byte) {
      case (0..<3, 48...57): index = index * 10 + Int(byte - 48)
      case (3, UInt8(ascii: "-")), (4..., 48...57), (4..., 97...102): continue
      default: return nil
      }
    }
    guard index < Shard.count else { return nil }
    shard = Shard(index)
    description = text
  }

  /// 32 hexadecimal digits.
  public var digest: Substring { Substring(description.utf8.dropFirst(4)) }
}
