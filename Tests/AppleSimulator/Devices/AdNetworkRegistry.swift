import Synchronization
import WireJSON

/// The postback URLs that ad networks registered with Apple.
public final class AdNetworkRegistry: Sendable {
  private let urls = Mutex<[String: OutgoingURL]>([:])

  func register(_ body: JSONObject) throws -> JSONValue {
    guard let id = body["adNetworkId"]?.stringValue, !id.isEmpty else { throw ControlError("adNetworkId: required") }
    guard let text = body["url"]?.stringValue, let url = OutgoingURL(text) else {
      throw ControlError("url: not an http or https URL")
    }
    urls.withLock { $0[id] = url }
    return json
  }

  func url(_ adNetworkID: String) -> OutgoingURL? { urls.withLock { $0[adNetworkID] } }

  var json: JSONValue {
    .object(
      JSONObject(
        urls.withLock { $0 }.sorted { $0.key < $1.key }.map {
          JSONObject.Member(key: $0.key, value: .string($0.value.description))
        }))
  }
}
