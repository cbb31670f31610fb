import Logging
import Synchronization

/// Writes the log lines about answered requests, so that a caller's request id can be found in the log.
///
/// The number of lines is limited, because a fault of Redis or a caller with a wrong token can make every request fail.
final class CallLog: Sendable {
  private static let rate = RequestRate(perSecond: 20, burst: 200)

  private struct State {
    var bucket: RequestBucket
    /// The number of lines that were omitted since the last one.
    var omitted = 0
  }

  private let logger: Logger
  private let state = Mutex(State(bucket: RequestBucket(full: CallLog.rate, now: RateClock.now())))
  /// True if successful requests are logged too.
  let writesAll: Bool

  init(_ logger: Logger) {
    self.logger = logger
    writesAll = logger.logLevel <= .debug
  }

  /// Writes a line if its level is logged and not too many lines were written in the last seconds. Lines of level debug are not limited.
  func write(_ level: Logger.Level, _ message: Logger.Message, _ fields: () -> Logger.Metadata) {
    guard logger.logLevel <= level else { return }
    var omitted = 0
    if level > .debug {
      guard let count = admitLine() else { return }
      omitted = count
    }
    var metadata = fields()
    if omitted > 0 { metadata["omitted"] = "\(omitted)" }
    logger.log(level: level, message, metadata: metadata)
  }

  /// Returns the number of lines that were omitted since the last one; nil if this line is omitted too.
  private func admitLine() -> Int? {
    state.withLock { state in
      guard state.bucket.take(Self.rate, now: RateClock.now()) == nil else {
        state.omitted += 1
        return nil
      }
      defer { state.omitted = 0 }
      return state.omitted
    }
  }
}
