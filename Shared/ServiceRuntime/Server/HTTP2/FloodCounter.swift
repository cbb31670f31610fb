import NIOCore

/// Counts events in consecutive windows of time, to detect floods: for example, a peer that opens streams and resets them at once (HTTP/2
/// Rapid Reset, CVE-2023-44487).
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
