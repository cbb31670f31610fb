/// The clock of retry schedules. In development it may run faster than real time (`ATTRIBUTION_TIME_SCALE`), so that waits of hours pass in
/// seconds. The age of attribution tokens is scaled too.
public struct ScaledClock: Sendable {
  /// The real time, milliseconds since 1970.
  public let wall: @Sendable () -> Int64
  /// How many times faster than real time this clock runs.
  public let factor: Double

  public init(wall: @escaping @Sendable () -> Int64, factor: Double) {
    self.wall = wall
    self.factor = factor
  }

  /// The current time of this clock for something that began at the real time `start`.
  public func now(since start: Int64) -> Int64 {
    let wall = wall()
    guard factor != 1 else { return wall }
    return start + Int64(Double(wall - start) * factor)
  }

  /// The real time at which this clock reaches `moment`, for something that began at the real time `start`.
  public func real(_ moment: Int64, since start: Int64) -> Int64 {
    factor == 1 ? moment : start + Int64(Double(moment - start) / factor)
  }

  /// The real duration of a wait that is `milliseconds` long on this clock.
  public func real(_ milliseconds: Int64) -> Duration {
    .milliseconds(factor == 1 ? max(0, milliseconds) : max(0, Int64((Double(milliseconds) / factor).rounded(.up))))
  }
}
