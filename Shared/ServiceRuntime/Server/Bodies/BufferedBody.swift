import NIOCore

/// A request body that is being received. A request whose `Content-Length` exceeds the limit is refused before that
/// (``IncomingRequest/announcesMore(than:)``).
struct BufferedBody {
  /// The memory reservation of the body.
  let reservation: BodyReservation
  private var buffer: ByteBuffer?

  init(_ budget: BodyBudget, peer: IPAddress? = nil) { reservation = BodyReservation(budget, peer: peer) }

  var count: Int { buffer?.readableBytes ?? 0 }

  /// Returns the bytes and empties the buffer.
  mutating func take() -> [UInt8] {
    defer { buffer = nil }
    return buffer.map { Array($0.readableBytesView) } ?? []
  }

  /// Appends a part; returns an error if the limit or the memory does not allow it.
  mutating func add(_ part: ByteBuffer, limit: Int) -> BodyError? {
    guard count + part.readableBytes <= limit else { return .tooLarge }
    guard reservation.take(part.readableBytes) else { return .noRoom }
    if buffer == nil { buffer = part } else { buffer!.writeImmutableBuffer(part) }
    return nil
  }
}
