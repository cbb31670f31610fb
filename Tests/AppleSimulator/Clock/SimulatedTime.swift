import Foundation
import Synchronization

/// The clock of the simulated Apple, and the scale of its long durations.
///
/// Dates in data are real (plus an offset that a test may set), because the services compare them with their own clocks. Only durations
/// (retry intervals, a token's 24 hours, hourly rate limits) are divided by the scale.
public final class SimulatedTime: Sendable {
  private struct State {
    var scale: Double
    var offsetMilliseconds: Int64 = 0
  }
  private let state: Mutex<State>

  public init(scale: Double = 1) { state = Mutex(State(scale: scale)) }

  /// The number of simulated seconds in a real second.
  public var scale: Double {
    get { state.withLock(\.scale) }
    set { state.withLock { $0.scale = newValue } }
  }

  /// The difference between the simulated time and the real one.
  public var offsetMilliseconds: Int64 {
    get { state.withLock(\.offsetMilliseconds) }
    set { state.withLock { $0.offsetMilliseconds = newValue } }
  }

  /// The simulated time, in milliseconds since 1970.
  public var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) + offsetMilliseconds }

  /// The simulated time in the format of the `Date` header.
  public var httpDate: String {
    var seconds = time_t(now / 1000)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    var text = [CChar](repeating: 0, count: 64)
    let count = strftime(&text, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
    return String(decoding: text.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The simulated duration since a time, in milliseconds.
  public func age(since milliseconds: Int64) -> Double { Double(now - milliseconds) * scale }

  /// Waits for a simulated duration, in slices of at most half a second, so that a change of the scale soon has its effect. Throws if the
  /// task is cancelled.
  public func sleep(simulatedMilliseconds: Double) async throws {
    var remaining = simulatedMilliseconds
    let clock = ContinuousClock()
    while remaining > 0 {
      let scale = self.scale
      let start = clock.now
      let slice = min(remaining / scale, 500)
      try await clock.sleep(for: .microseconds(Int64(max(slice, 0.05) * 1000)), tolerance: .zero)
      let passed = clock.now - start
      remaining -= (Double(passed.components.seconds) * 1000 + Double(passed.components.attoseconds) / 1e15) * scale
    }
  }
}
