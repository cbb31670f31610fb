import NIOCore

/// The part of a request's body that has been received. A request whose `Content-Length` exceeds the limit is refused before any of its
/// body is received (``IncomingRequest/announcesMore(than:)``).
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

  /// Appends a part. Returns an error if the body would exceed its limit, or if there is not enough memory for bodies.
  mutating func add(_ part: ByteBuffer, limit: Int) -> BodyError? {
    guard count + part.readableBytes <= limit else { return .tooLarge }
    guard reservation.reserve(part.readableBytes) else { return .noRoom }
    if buffer == nil { buffer = part } else { buffer!.writeImmutableBuffer(part) }
    return nil
  }
}
