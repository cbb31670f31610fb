/// The clock that retry schedules go by. With a factor above 1, for development only, waits that last hours pass in
/// seconds; the token's age runs along with them.
public struct ScaledClock: Sendable {
  /// The time, milliseconds since 1970.
  public let wall: @Sendable () -> Int64
  /// How many times faster schedules run.
  public let factor: Double

  public init(wall: @escaping @Sendable () -> Int64, factor: Double) {
    self.wall = wall
    self.factor = factor
  }

  /// The time by this clock for something that began at `start`.
  public func now(since start: Int64) -> Int64 {
    let wall = wall()
    guard factor != 1 else { return wall }
    return start + Int64(Double(wall - start) * factor)
  }

  /// When a moment of this clock, for something that began at `start`, really comes.
  public func real(_ moment: Int64, since start: Int64) -> Int64 {
    factor == 1 ? moment : start + Int64(Double(moment - start) / factor)
  }

  /// How long a wait of this clock really lasts.
  public func real(_ milliseconds: Int64) -> Duration {
    .milliseconds(factor == 1 ? max(0, milliseconds) : max(0, Int64((Double(milliseconds) / factor).rounded(.up))))
  }
}
