import NIOCore

/// A body on its way.
struct BufferedBody {
  /// What its bytes count on, until that is let go of.
  let share: BodyReservation
  private var buffer: ByteBuffer?

  init(_ budget: BodyBudget, peer: IPAddress? = nil) { share = BodyReservation(budget, peer: peer) }

  var count: Int { buffer?.readableBytes ?? 0 }

  /// The bytes, once.
  mutating func take() -> [UInt8] {
    defer { buffer = nil }
    return buffer.map { Array($0.readableBytesView) } ?? []
  }

  /// Adds a part; says why that cannot be.
  mutating func add(_ part: ByteBuffer, limit: Int) -> BodyError? {
    guard count + part.readableBytes <= limit else { return .tooLarge }
    guard share.take(part.readableBytes) else { return .noRoom }
    if buffer == nil { buffer = part } else { buffer!.writeImmutableBuffer(part) }
    return nil
  }
}
