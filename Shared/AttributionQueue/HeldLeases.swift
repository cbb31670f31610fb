import Synchronization

/// The leases of a worker that are not settled yet: these are renewed.
final class HeldLeases: Sendable {
  /// One object is one lease: a message that this worker took over from itself is another.
  private let leases = Mutex<[ObjectIdentifier: LeasedMessage]>([:])

  var all: [LeasedMessage] { leases.withLock { Array($0.values) } }

  func add(_ messages: [LeasedMessage]) {
    leases.withLock { leases in for message in messages { leases[ObjectIdentifier(message)] = message } }
  }

  func remove(_ messages: [LeasedMessage]) {
    leases.withLock { leases in for message in messages { leases[ObjectIdentifier(message)] = nil } }
  }
}
