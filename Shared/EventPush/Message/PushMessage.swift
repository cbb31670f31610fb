import AttributionQueue
import HTTPClient
import WireJSON

/// The headers and the body of the request that posts an event.
struct PushMessage: Sendable {
  let headers: [(name: String, value: String)]
  let body: [UInt8]

  /// Nil if the event has no original bytes although the form is ``PushForm/original``, or if the event cannot be parsed although the form
  /// is ``PushForm/binary``.
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
      if !original.contentType.isEmpty { headers.append(("Content-Type", Self.withoutControlCharacters(original.contentType))) }
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

  /// An event's id for the header `webhook-id`: all characters but letters, digits, `_`, `-` and `:` are percent-encoded. A full stop must
  /// be encoded, because it separates the signed parts.
  static func webhookID(_ id: String) -> String { percentEncoded(id, unencoded: Self.unencodedInID) }

  /// The value of a `ce-` header: percent-encoded (CloudEvents HTTP protocol binding 3.1.3.2).
  static func headerValue(_ text: String) -> String { percentEncoded(text, unencoded: Self.unencodedInHeader) }

  private static let unencodedInID: [Bool] = (UInt8.min...UInt8.max).map { byte in
    switch byte {
    case 48...58, 65...90, 97...122, UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }

  private static let unencodedInHeader: [Bool] = (UInt8.min...UInt8.max).map { byte in
    byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "%")
  }

  private static let digits = Array("0123456789ABCDEF".utf8)

  /// - Parameter unencoded: for each value of a byte, true if it stays as it is.
  private static func percentEncoded(_ text: String, unencoded: [Bool]) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      if unencoded[Int(byte)] {
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
  private static func withoutControlCharacters(_ text: String) -> String {
    String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F })
  }
}

/// The attributes of a CloudEvent in its JSON format, and the position of its data. They are found without parsing the data into values,
/// because the data of an event is large and is posted as it is.
struct CloudEventParts {
  private(set) var attributes: [(name: String, value: String)] = []
  private(set) var dataContentType = "application/json"
  /// The bytes of `data` in the event.
  private(set) var data: Range<Int>

  /// Nil unless the event is a JSON object that has `data` and whose other members are strings.
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

  /// The `subject` of an event; empty if it has none or cannot be parsed.
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
