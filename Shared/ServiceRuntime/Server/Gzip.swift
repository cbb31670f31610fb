import CZlib

/// gzip, bounded in what it inflates to.
enum Gzip {
  enum Failure: Error { case malformed, tooLarge }

  /// Inflates exactly one stream of at most `limit` bytes.
  static func inflate(_ bytes: [UInt8], limit: Int) throws(Failure) -> [UInt8] {
    var out: UnsafeMutablePointer<UInt8>?
    var count = 0
    switch attribution_gunzip(bytes, bytes.count, limit, &out, &count) {
    case 0:
      defer { attribution_gzip_free(out) }
      return Array(UnsafeBufferPointer(start: out, count: count))
    case -2: throw .tooLarge
    default: throw .malformed
    }
  }

  /// Nil only when there is no memory.
  static func deflate(_ bytes: [UInt8]) -> [UInt8]? {
    var out: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard attribution_gzip(bytes, bytes.count, &out, &count) == 0 else { return nil }
    defer { attribution_gzip_free(out) }
    return Array(UnsafeBufferPointer(start: out, count: count))
  }
}
