/// The clock of retry schedules. For development its factor may be above 1, so that waits of hours pass in seconds; the age of tokens is
/// scaled too.
public struct ScaledClock: Sendable {
  /// The time, milliseconds since 1970.
  public let wall: @Sendable () -> Int64
  /// The factor by which schedules run faster.
  public let factor: Double

  public init(wall: @escaping @Sendable () -> Int64, factor: Double) {
    self.wall = wall
    self.factor = factor
  }

  /// The time of this clock for something that began at `start`.
  public func now(since start: Int64) -> Int64 {
    let wall = wall()
    guard factor != 1 else { return wall }
    return start + Int64(Double(wall - start) * factor)
  }

  /// The real time of a moment of this clock, for something that began at `start`.
  public func real(_ moment: Int64, since start: Int64) -> Int64 {
    factor == 1 ? moment : start + Int64(Double(moment - start) / factor)
  }

  /// The real length of a wait of this clock.
  public func real(_ milliseconds: Int64) -> Duration {
    .milliseconds(factor == 1 ? max(0, milliseconds) : max(0, Int64((Double(milliseconds) / factor).rounded(.up))))
  }
}
