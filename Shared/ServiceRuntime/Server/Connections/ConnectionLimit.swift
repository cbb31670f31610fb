import Glibc
import HummingbirdCore
import Synchronization

/// Limits the open connections of one listener. Further connections wait in the kernel's accept queue until one closes.
///
/// Connections also wait if the process has nearly reached its limit of descriptors: a failed accept would end the listener, and files and
/// connections to Redis need descriptors too.
final class ConnectionLimit: AvailableConnectionsDelegate {
  /// The number of descriptors that connections of callers leave for everything else.
  static let reservedDescriptors = 32

  private let maxConnections: Int
  private let open = Mutex(0)

  init(maxConnections: Int) { self.maxConnections = maxConnections }

  func connectionOpened() { open.withLock { $0 += 1 } }
  func connectionClosed() { open.withLock { $0 -= 1 } }

  func isAcceptingNewConnections() -> Bool {
    let open = open.withLock { $0 }
    // The server accepts again when a connection closes. Without an open one, that would never happen.
    return open == 0 || open < maxConnections && Self.descriptorsAreLeft
  }

  /// True if the connection that was just accepted exceeds the limit. That is possible because the server accepts several at a time.
  var isExceeded: Bool { open.withLock { $0 } > maxConnections }

  private static var descriptorsAreLeft: Bool {
    // A new descriptor gets the lowest free number, which shows how many are in use.
    let lowest = dup(STDERR_FILENO)
    guard lowest >= 0 else { return false }
    close(lowest)
    guard let limit = DescriptorLimit.current else { return false }
    return Int(lowest) + reservedDescriptors < limit
  }
}
