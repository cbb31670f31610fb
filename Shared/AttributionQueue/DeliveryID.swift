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
    var shard = 0
    for index in 0..<3 {
      guard (48...57).contains(id[index]) else { return nil }
      shard = shard * 10 + Int(id[index] - 48)
    }
    for index in 4..<36 where !(48...57).contains(id[index]) && !(97...102).contains(id[index]) { return nil }
    return shard < Shard.count ? Shard(shard) : nil
  }

  /// 32 hexadecimal digits.
  public var digest: Substring {
    Substring(description.utf8[description.utf8.index(description.startIndex, offsetBy: 4)...])
  }
}
