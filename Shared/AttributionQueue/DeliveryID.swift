/// Identifies a delivery: its shard and a digest of its idempotency key. The same idempotency key and order key give the same id.
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
    let read =
      text.utf8.withContiguousStorageIfAvailable { Self.shard(of: $0) } ?? Array(text.utf8).withUnsafeBufferPointer { Self.shard(of: $0) }
    guard let read else { return nil }
    shard = read
    description = text
  }

  private static func shard(of id: UnsafeBufferPointer<UInt8>) -> Shard? {
    guard id.count == 36, id[3] == UInt8(ascii: "-") else { return nil }
    var index = 0
    for place in 0..<3 {
      guard (48...57).contains(id[place]) else { return nil }
      index = index * 10 + Int(id[place] - 48)
    }
    for place in 4..<36 where !(48...57).contains(id[place]) && !(97...102).contains(id[place]) { return nil }
    return index < Shard.count ? Shard(index) : nil
  }

  /// 32 hexadecimal digits.
  public var digest: Substring {
    Substring(description.utf8[description.utf8.index(description.startIndex, offsetBy: 4)...])
  }
}
