import NIOCore

/// Counts events in a fixed window that restarts when it is over.
struct FloodCounter {
  private var count = 0
  private var since = NIODeadline.now()

  /// Counts one event and returns the count of the current window.
  mutating func add(within window: TimeAmount) -> Int {
    let now = NIODeadline.now()
    if now - since > window {
      since = now
      count = 0
    }
    count += 1
    return count
  }
}
