import Synchronization
import WireJSON

/// A log of the postbacks that simulated devices deliver, with the attempts for each.
public final class DeliveryLog: Sendable {
  struct Delivery: Sendable {
    /// The index in the log.
    var id: Int
    /// `skadnetwork` or `adattributionkit`, followed by `-copy` for the developer's copy.
    var kind: String
    /// `transaction-id` or `postback-identifier`.
    var identifier: String
    var url: String
    var attempts: [(at: Int64, response: OutgoingResponse)] = []
    var delivered: Bool { attempts.last?.response.status == 200 }

    var json: JSONValue {
      .object([
        "id": .integer(id), "kind": .string(kind), "identifier": .string(identifier), "url": .string(url),
        "delivered": .bool(delivered),
        "attempts": .array(
          attempts.map { attempt in
            var object: JSONObject = [
              "atMilliseconds": .integer(attempt.at), "result": .string(attempt.response.result.rawValue),
            ]
            if let status = attempt.response.status { object["status"] = .integer(status) }
            return .object(object)
          }),
      ])
    }
  }

  private let deliveries = Mutex<[Delivery]>([])

  /// Begins the entry of a delivery and returns its id.
  func open(kind: String, identifier: String, url: String) -> Int {
    deliveries.withLock {
      $0.append(Delivery(id: $0.count, kind: kind, identifier: identifier, url: url))
      return $0.count - 1
    }
  }

  func record(_ id: Int, at: Int64, _ response: OutgoingResponse) {
    deliveries.withLock { if id < $0.count { $0[id].attempts.append((at, response)) } }
  }

  func json(_ id: Int) -> JSONValue { deliveries.withLock { id < $0.count ? $0[id].json : .null } }

  func list(identifier: String?, limit: Int) -> [JSONValue] {
    deliveries.withLock { $0.filter { identifier == nil || $0.identifier == identifier }.suffix(limit).map(\.json) }
  }

  var count: Int { deliveries.withLock(\.count) }

  public func reset() { deliveries.withLock { $0 = [] } }
}
