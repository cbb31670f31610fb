import AppleAttribution
import AttributionQueue
import ServiceRuntime
import WireJSON

extension PublicHTTPRequest {
  /// True if a body of the content type is read. Besides JSON and plain text, these are the types that common clients send if nobody sets
  /// one: the type of a form (curl, PHP, URLSession) or of bytes (Unity), or none. So the body shows what it is, and not its type.
  var hasReadableType: Bool {
    guard let type = mediaType, !type.isEmpty else { return true }
    return Self.readableTypes.contains(type) || type.hasSuffix("+json")
  }

  private static let readableTypes: Set<String> = [
    "application/json", "text/json", "text/plain", "application/x-www-form-urlencoded", "application/octet-stream",
  ]

  /// True if the body begins as a JSON object does.
  var isObject: Bool { body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{") }

  /// The first value of a query parameter, decoded; nil if it is missing or not UTF-8.
  func parameter(_ name: String) -> String? {
    for pair in (query ?? "").split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, Self.percentDecoded(parts[0]) == name else { continue }
      return Self.percentDecoded(parts[1].map { $0 == "+" ? " " : String($0) }.joined())
    }
    return nil
  }

  /// A path segment or query value without its percent-encoding; nil if the encoding is invalid or the result is not UTF-8.
  static func percentDecoded(_ text: some StringProtocol) -> String? {
    guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
    var bytes: [UInt8] = []
    var rest = Array(text.utf8)[...]
    while let first = rest.popFirst() {
      guard first == UInt8(ascii: "%") else {
        bytes.append(first)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The body as a JSON object. Throws ``FieldError`` with the path of the invalid value.
  func object() throws(FieldError) -> JSONObject {
    let value: JSONValue
    do { value = try JSONValue(parsing: body, limits: jsonLimits) } catch { throw FieldError(field: error.path, reason: error.reason) }
    guard case .object(let object) = value else { throw FieldError(field: "", reason: "must be a JSON object") }
    return object
  }

  /// A message for a queue that this request causes. Without a `body`, the message has the body of the request.
  func message(kind: String, body: [UInt8]? = nil, attributes: [String: String] = [:]) -> QueueMessage {
    QueueMessage(
      kind: kind, body: body ?? self.body, attributes: attributes, receivedAt: receivedAt, source: QueueMessage.publicSource,
      traceparent: traceparent, requestId: requestId)
  }
}
