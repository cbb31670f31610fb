import AttributionQueue
import ServiceRuntime
import WireJSON

/// A request to the public port with its body and the time of its receipt.
struct PublicRequest: Sendable {
  private let received: PublicHTTPRequest
  /// Milliseconds since 1970.
  let receivedAt: Int64

  init(_ received: PublicHTTPRequest, receivedAt: Int64) {
    self.received = received
    self.receivedAt = receivedAt
  }

  /// The path as it was sent, without the query.
  var path: String { received.path }
  var body: [UInt8] { received.body }
  var contentType: String? { received.contentType }
  var requestId: String { received.requestId }
  var traceparent: String { received.traceparent }
  var jsonLimits: JSONLimits { received.jsonLimits }

  /// True if the content type is JSON, or missing: no genuine request is refused for that.
  var isJSON: Bool {
    guard let type = received.mediaType, !type.isEmpty else { return true }
    return type == "application/json" || (type.hasPrefix("application/") && type.hasSuffix("+json"))
  }

  var isText: Bool { received.mediaType == "text/plain" }

  /// The first value of a query parameter.
  func parameter(_ name: String) -> String? {
    for pair in (received.query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, PublicRoute.decoded(parts[0]) == name else { continue }
      return PublicRoute.decoded(parts[1].map { $0 == "+" ? " " : String($0) }.joined())
    }
    return nil
  }

  /// A message of this request for a queue.
  func message(kind: String, body: [UInt8]? = nil, attributes: [String: String] = [:]) -> QueueMessage {
    QueueMessage(
      kind: kind, body: body ?? self.body, attributes: attributes, receivedAt: receivedAt, source: QueueMessage.publicSource,
      traceparent: received.traceparent, requestId: received.requestId)
  }
}
