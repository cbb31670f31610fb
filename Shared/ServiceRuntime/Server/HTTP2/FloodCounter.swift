import NIOCore

/// Counts what happens within a time, roughly: the count begins anew when the time is over.
struct FloodCounter {
  private var count = 0
  private var since = NIODeadline.now()

  /// Answers how many there are with this one.
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
