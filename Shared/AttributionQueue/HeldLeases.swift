import Synchronization

/// The leases of a worker that are not settled yet: these are renewed.
final class HeldLeases: Sendable {
  private let leases = Mutex<[String: LeasedMessage]>([:])

  var all: [LeasedMessage] { leases.withLock { Array($0.values) } }

  func add(_ messages: [LeasedMessage]) {
    leases.withLock { leases in for message in messages { leases[Self.key(message)] = message } }
  }

  func remove(_ message: LeasedMessage) {
    _ = leases.withLock { $0.removeValue(forKey: Self.key(message)) }
  }

  /// A lease that this worker took over from itself is another: the end of the first does not end it.
  private static func key(_ message: LeasedMessage) -> String { "\(message.entryID) \(message.deliveryCount) \(message.deliveryID)" }
}
