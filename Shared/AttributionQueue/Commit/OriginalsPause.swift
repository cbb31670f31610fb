import Synchronization

/// Caches for a second that a subscription requests original bytes. Meanwhile, batches with original bytes go directly to commit.lua.
final class OriginalsPause: Sendable {
  private static let length: Duration = .seconds(1)

  private let end = Mutex(ContinuousClock.now)

  func begin() { end.withLock { $0 = .now + Self.length } }

  /// True if the batch may be settled without commit.lua, as far as this is known.
  func allows(_ batch: PlainBatch) -> Bool {
    guard end.withLock({ .now < $0 }) else { return true }
    return !batch.items.contains(where: \.keepsOriginal)
  }
}
