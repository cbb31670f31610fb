import Glibc
import HummingbirdCore
import Synchronization

/// Bounds the open connections of one listener. What comes beyond waits in the system's queue until one ends.
///
/// A connection is not taken either when it would use up the process's descriptors: taking one without would end the listener, and
/// connections to Redis and files need some too.
final class ConnectionLimit: AvailableConnectionsDelegate {
  /// Descriptors left for everything but connections of callers.
  static let reservedDescriptors = 32

  private let most: Int
  private let open = Mutex(0)

  init(most: Int) { self.most = most }

  func connectionOpened() { open.withLock { $0 += 1 } }
  func connectionClosed() { open.withLock { $0 -= 1 } }

  func isAcceptingNewConnections() -> Bool {
    let open = open.withLock { $0 }
    // With none open nothing would ever end and make room.
    return open == 0 || open < most && Self.descriptorsAreLeft
  }

  /// Whether the connection that was just opened is one too many: several are taken at a time.
  var isPassed: Bool { open.withLock { $0 } > most }

  private static var descriptorsAreLeft: Bool {
    // A descriptor gets the lowest number that is free.
    let lowest = dup(STDERR_FILENO)
    guard lowest >= 0 else { return false }
    close(lowest)
    guard let limit = DescriptorLimit.current else { return false }
    return Int(lowest) + reservedDescriptors < limit
  }
}
