import Synchronization

/// Caches for a second that a subscription requests original bytes. During that time, batches whose original bytes would be stored go
/// directly to commit.lua: commit_plain.lua would only refuse them.
final class OriginalsFlagCache: Sendable {
  private static let maxAge: Duration = .seconds(1)

  private let validUntil = Mutex(ContinuousClock.now)

  /// Records that a subscription requests original bytes now.
  func set() { validUntil.withLock { $0 = .now + Self.maxAge } }

  /// True if the batch may be settled without commit.lua, as far as this is known.
  func allows(_ batch: PlainBatch) -> Bool {
    guard validUntil.withLock({ .now < $0 }) else { return true }
    return !batch.items.contains(where: \.keepsOriginal)
  }
}
