import Glibc
import HummingbirdCore
import Synchronization

/// Limits the open connections of one listener. Further connections wait in the kernel's accept queue until one closes.
///
/// Connections are not accepted either when the process is nearly out of descriptors: a failing accept would end the listener, and
/// connections to Redis and files need descriptors too.
final class ConnectionLimit: AvailableConnectionsDelegate {
  /// Descriptors left for everything but connections of callers.
  static let reservedDescriptors = 32

  private let maxConnections: Int
  private let open = Mutex(0)

  init(maxConnections: Int) { self.maxConnections = maxConnections }

  func connectionOpened() { open.withLock { $0 += 1 } }
  func connectionClosed() { open.withLock { $0 -= 1 } }

  func isAcceptingNewConnections() -> Bool {
    let open = open.withLock { $0 }
    // Without an open connection none could close and trigger the next accept.
    return open == 0 || open < maxConnections && Self.descriptorsAreLeft
  }

  /// True if the connection that was just opened exceeds the limit, which happens because several are accepted at a time.
  var isPassed: Bool { open.withLock { $0 } > maxConnections }

  private static var descriptorsAreLeft: Bool {
    // A descriptor gets the lowest number that is free.
    let lowest = dup(STDERR_FILENO)
    guard lowest >= 0 else { return false }
    close(lowest)
    guard let limit = DescriptorLimit.current else { return false }
    return Int(lowest) + reservedDescriptors < limit
  }
}
