import CZlib

/// Inflates and deflates gzip (RFC 1952), with a limit of the inflated size.
enum Gzip {
  enum Failure: Error {
    case malformed, tooLarge
    /// The listener's memory for bodies is used up; the sender may retry.
    case noRoom
  }

  /// The size of the field at the end of a stream that states its inflated length (ISIZE, RFC 1952 section 2.3.1), bytes.
  private static let lengthBytes = 4

  /// Every stream may inflate to this size, because short texts may compress by a high ratio.
  private static let minLimit = 1024

  /// Inflates exactly one stream to at most `limit` bytes, and to at most `ratio` times its own size.
  static func inflate(_ bytes: [UInt8], limit: Int, ratio: Int, on reservation: BodyReservation) throws(Failure) -> [UInt8] {
    try inflate(bytes, limit: min(limit, max(bytes.count * ratio, minLimit)), on: reservation)
  }

  /// Inflates exactly one stream to at most `limit` bytes. The memory is reserved before it is allocated.
  static func inflate(_ bytes: [UInt8], limit: Int, on reservation: BodyReservation) throws(Failure) -> [UInt8] {
    // The end of the stream states its inflated length, little-endian. Inflating stops there, because a stream that inflates to more is
    // malformed.
    let statedLength = bytes.suffix(lengthBytes).reversed().reduce(0) { $0 << 8 | Int($1) }
    let capacity = min(statedLength, limit)
    guard reservation.reserve(capacity) else { throw .noRoom }
    var result: Int32 = -1
    // One byte more, so that a stream that inflates to more than the capacity is noticed.
    let inflated = [UInt8](unsafeUninitializedCapacity: capacity + 1) { buffer, count in
      result = attribution_gunzip(bytes, bytes.count, capacity, buffer.baseAddress!, &count)
    }
    guard result != 0 else { return inflated }
    reservation.release(capacity)
    throw result == -2 && statedLength > limit ? .tooLarge : .malformed
  }

  /// Compresses the bytes. Returns nil only if memory cannot be allocated.
  static func deflate(_ bytes: [UInt8]) -> [UInt8]? {
    var out: UnsafeMutablePointer<UInt8>?
    var count = 0
    guard attribution_gzip(bytes, bytes.count, &out, &count) == 0 else { return nil }
    defer { attribution_gzip_free(out) }
    return Array(UnsafeBufferPointer(start: out, count: count))
  }
}
