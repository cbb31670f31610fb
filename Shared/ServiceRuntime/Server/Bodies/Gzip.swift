import CZlib

/// gzip, bounded in what it inflates to.
enum Gzip {
  enum Failure: Error {
    case malformed, tooLarge
    /// As many bytes as may be are held already; it may come again.
    case noRoom
  }

  /// Bytes of the length at a stream's end (ISIZE, RFC 1952 section 2.3.1), little-endian.
  private static let lengthBytes = 4

  /// Inflates exactly one stream of at most `limit` bytes. What it makes is counted on the share before it is made.
  static func inflate(_ bytes: [UInt8], limit: Int, on share: BodyReservation) throws(Failure) -> [UInt8] {
    // A stream says at its end how long it is, and zlib checks that: one that becomes longer is none, and no more is made of it.
    let said = bytes.suffix(lengthBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
    let room = min(said, limit)
    guard share.take(room) else { throw .noRoom }
    var result: Int32 = -1
    // One byte more tells "at the limit" from "past it".
    let inflated = [UInt8](unsafeUninitializedCapacity: room + 1) { buffer, count in
      result = attribution_gunzip(bytes, bytes.count, room, buffer.baseAddress!, &count)
    }
    guard result != 0 else { return inflated }
    share.giveBack(room)
    throw result == -2 && said > limit ? .tooLarge : .malformed
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
