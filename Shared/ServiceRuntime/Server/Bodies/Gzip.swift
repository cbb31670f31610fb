import CZlib

/// gzip with a limit on the inflated size.
enum Gzip {
  enum Failure: Error {
    case malformed, tooLarge
    /// The listener's memory for bodies is used up; the sender may retry.
    case noRoom
  }

  /// The size of the length field at a stream's end (ISIZE, RFC 1952 section 2.3.1), little-endian.
  private static let lengthBytes = 4

  /// Streams may always inflate to this size, because the ratio says nothing about short ones.
  private static let minLimit = 1024

  /// Inflates exactly one stream, to at most `limit` bytes and at most `ratio` times the sent bytes.
  static func inflate(_ bytes: [UInt8], limit: Int, ratio: Int, on reservation: BodyReservation) throws(Failure) -> [UInt8] {
    try inflate(bytes, limit: min(limit, max(bytes.count * ratio, minLimit)), on: reservation)
  }

  /// Inflates exactly one stream of at most `limit` bytes. The memory is reserved before it is allocated.
  static func inflate(_ bytes: [UInt8], limit: Int, on reservation: BodyReservation) throws(Failure) -> [UInt8] {
    // The trailer states the inflated length and zlib checks it, so a stream that inflates to more is malformed and inflating stops there.
    let said = bytes.suffix(lengthBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
    let room = min(said, limit)
    guard reservation.take(room) else { throw .noRoom }
    var result: Int32 = -1
    // One byte more distinguishes "at the limit" from "past it".
    let inflated = [UInt8](unsafeUninitializedCapacity: room + 1) { buffer, count in
      result = attribution_gunzip(bytes, bytes.count, room, buffer.baseAddress!, &count)
    }
    guard result != 0 else { return inflated }
    reservation.giveBack(room)
    throw result == -2 && said > limit ? .tooLarge : .malformed
  }

  /// Returns nil only if memory cannot be allocated.
  static func deflate(_ bytes: [UInt8]) -> [UInt8]? {
    var out: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard attribution_gzip(bytes, bytes.count, &out, &count) == 0 else { return nil }
    defer { attribution_gzip_free(out) }
    return Array(UnsafeBufferPointer(start: out, count: count))
  }
}
