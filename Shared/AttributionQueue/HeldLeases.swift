import Synchronization

/// The leases of a batch that are not settled yet: these are renewed.
final class HeldLeases: Sendable {
  private let leases: Mutex<[String: LeasedMessage]>

  init(_ messages: [LeasedMessage]) {
    leases = Mutex(Dictionary(messages.map { (Self.key($0), $0) }) { $1 })
  }

  var all: [LeasedMessage] { leases.withLock { Array($0.values) } }

  func remove(_ message: LeasedMessage) {
    _ = leases.withLock { $0.removeValue(forKey: Self.key(message)) }
  }

  private static func key(_ message: LeasedMessage) -> String { message.deliveryID.description + message.entryID }
}
