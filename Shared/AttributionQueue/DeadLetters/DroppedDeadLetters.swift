import Synchronization

/// Counts the dead letters that this process dropped because of a limit (``DeadLetterLimit``).
public final class DroppedDeadLetters: Sendable {
  /// The number of dropped dead letters by cause.
  public struct Count: Sendable, Hashable {
    /// Dropped because of their age.
    public var aged = 0
    /// Dropped because of the memory limit.
    public var large = 0
  }

  private let counts = Mutex<[QueueName: Count]>([:])

  /// The counts of a queue since the process started.
  public func count(_ queue: QueueName) -> Count { counts.withLock { $0[queue] ?? Count() } }

  func add(_ count: Count, to queue: QueueName) {
    counts.withLock {
      $0[queue, default: Count()].aged += count.aged
      $0[queue, default: Count()].large += count.large
    }
  }
}
