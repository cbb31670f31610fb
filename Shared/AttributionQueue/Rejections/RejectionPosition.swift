import Cryptography

/// A position among the rejected deliveries that are judged again page by page.
public struct RejectionPosition: Sendable, Hashable {
  let shard: Shard
  /// The entry of the index after which the next page begins.
  let entry: String
  /// When the first page was read, milliseconds since 1970. Later rejections are not selected: otherwise a delivery that is rejected again for
  /// another reason could be selected again.
  let start: Int64

  init(shard: Shard, entry: String, start: Int64) {
    self.shard = shard
    self.entry = entry
    self.start = start
  }

  /// The maximum of ``start``: computing with a caller's value cannot overflow.
  private static let maxStart: Int64 = 1 << 52

  /// Returns nil for text that is not in the format of ``text``.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let start = Int64(parts[0]), (0...Self.maxStart).contains(start), let shard = Int(parts[1]),
      (0..<Shard.count).contains(shard),
      let entry = Base64.decodeURL(parts[2]), !entry.isEmpty
    else { return nil }
    self.init(shard: Shard(shard), entry: String(decoding: entry, as: UTF8.self), start: start)
  }

  /// The start time, the shard and the entry in URL-safe Base64, such as `1700000000000-17-bm90…`.
  public var text: String { "\(start)-\(shard.index)-\(Base64.encodeURL(Array(entry.utf8)))" }
}
