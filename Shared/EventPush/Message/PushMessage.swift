import AttributionQueue
import HTTPClient
import WireJSON

/// The HTTP request of an event.
struct PushMessage: Sendable {
  let headers: [(name: String, value: String)]
  let body: [UInt8]

  /// Nil if the form requires original bytes and none were stored, or if the event cannot be parsed.
  ///
  /// - Parameters:
  ///   - timestamp: the time of this attempt, seconds since 1970.
  ///   - traceparent: the W3C header of this attempt, if the event's trace is recorded.
  init?(_ event: PushedEvent, form: PushForm, signer: WebhookSigner, timestamp: Int64, traceparent: String? = nil) {
    var headers: [(name: String, value: String)] = []
    headers.reserveCapacity(16)
    let body: [UInt8]
    switch form {
    case .structured:
      headers.append(("Content-Type", "application/cloudevents+json; charset=utf-8"))
      body = event.json
    case .binary:
      guard let parts = CloudEventParts(event.json) else { return nil }
      headers.append(("Content-Type", parts.dataContentType))
      for (name, value) in parts.attributes { headers.append(("ce-\(name)", Self.headerValue(value))) }
      body = Array(event.json[parts.data])
    case .original:
      guard let original = event.original else { return nil }
      if !original.contentType.isEmpty { headers.append(("Content-Type", Self.plain(original.contentType))) }
      body = original.body
    }
    let id = Self.webhookID(event.id)
    headers.append(("User-Agent", "apple-attribution-services"))
    headers.append(("webhook-id", id))
    headers.append(("webhook-timestamp", String(timestamp)))
    headers.append(("webhook-signature", signer.signature(id: id, timestamp: timestamp, body: body)))
    if let traceparent { headers.append(("traceparent", traceparent)) }
    self.headers = headers
    self.body = body
  }

  /// An event's id for `webhook-id`: percent-encoded unless it consists of letters, digits, `_`, `-` and `:`. A full stop must be encoded,
  /// because it separates the signed parts.
  static func webhookID(_ id: String) -> String { encoded(id, plain: Self.plainInID) }

  /// The value of a `ce-` header (CloudEvents HTTP protocol binding 3.1.3.2).
  static func headerValue(_ text: String) -> String { encoded(text, plain: Self.plainInHeader) }

  private static let plainInID: [Bool] = (UInt8.min...UInt8.max).map { byte in
    switch byte {
    case 48...58, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }

  private static let plainInHeader: [Bool] = (UInt8.min...UInt8.max).map { byte in
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  /// - Parameter plain: for each byte, true if it is not encoded.
  private static func encoded(_ text: String, plain: [Bool]) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      if plain[Int(byte)] {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Removes control characters, which could end the header's line.
  private static func plain(_ text: String) -> String { String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }) }
}

/// The positions of the parts of a CloudEvent in its JSON format, found without building a tree.
struct CloudEventParts {
  private(set) var attributes: [(name: String, value: String)] = []
  private(set) var dataContentType = "application/json"
  private(set) var data: Range<Int>

  init?(_ json: [UInt8]) {
    var found: Range<Int>?
    do throws(JSONError) {
      var reader = JSONReader(json, limits: .ownDocuments)
      try reader.beginObject()
      while let name = try reader.nextKey() {
        switch name {
        case "data":
          let start = reader.position
          try reader.passValue()
          found = start..<reader.position
        case "datacontenttype": dataContentType = try reader.readString()
        default: attributes.append((name, try reader.readString()))
        }
      }
    } catch { return nil }
    guard let found else { return nil }
    data = found
  }

  /// The `subject` of an event; empty if it has none.
  static func subject(_ json: [UInt8]) -> String {
    var reader = JSONReader(json, limits: .ownDocuments)
    do throws(JSONError) {
      try reader.beginObject()
      while let name = try reader.nextKey() {
        if name == "subject" { return try reader.readString() }
        // The attributes precede the data, so the rest need not be parsed.
        if name == "data" { return "" }
        try reader.passValue()
      }
    } catch { return "" }
    return ""
  }
}
