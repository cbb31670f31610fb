import Synchronization
import WireJSON

/// A log of the requests to hosts that receive sessions (``ConsentHosts``), and of POST requests to paths of no other part.
public final class SessionLog: Sendable {
  private let entries = Mutex<[JSONValue]>([])

  /// Records a request. This includes requests that were answered with a scripted failure, because they arrived.
  func record(_ request: SimulatedRequest, at now: Int64, status: Int) {
    let text = String(decoding: request.body, as: UTF8.self)
    var entry: JSONObject = [
      "atMilliseconds": .integer(now), "host": .string(request.host), "method": .string(request.method),
      "path": .string(request.path),
      "status": .integer(status),
    ]
    entry["headers"] = .object(
      JSONObject(
        Dictionary(request.headers, uniquingKeysWith: { $0 + ", " + $1 }).sorted { $0.key < $1.key }.map {
          JSONObject.Member(key: $0.key, value: .string($0.value))
        }))
    entry["body"] = (try? JSONValue(parsing: request.body)) ?? .string(text)
    entries.withLock { $0.append(.object(entry)) }
  }

  /// The last `limit` requests to the host, or to all hosts, oldest first.
  func list(host: String?, limit: Int) -> [JSONValue] {
    entries.withLock { $0.filter { host == nil || $0["host"]?.stringValue == host }.suffix(limit) }
  }

  var count: Int { entries.withLock(\.count) }

  func reset() { entries.withLock { $0 = [] } }
}
