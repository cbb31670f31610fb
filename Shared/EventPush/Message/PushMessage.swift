import AttributionQueue
import HTTPClient
import WireJSON

/// The HTTP request of an event.
struct PushMessage: Sendable {
  let headers: [(name: String, value: String)]
  let body: [UInt8]

  /// Nil when the form asks for original bytes and none were kept, or the event cannot be read.
  ///
  /// - Parameters:
  ///   - timestamp: of this attempt, seconds since 1970.
  ///   - traceparent: W3C's header of this attempt, where the event's trace is recorded.
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

  /// An event's id as `webhook-id` has it: percent-encoded where it holds anything but letters, digits, `_`, `-` and `:`. A full stop separates
  /// what is signed, and must not be part of it.
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

  /// - Parameter plain: by byte, whether it stays as it is.
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

  /// Without what would end a header's line.
  private static func plain(_ text: String) -> String { String(text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }) }
}

/// Where the parts of a CloudEvent in its JSON format are, without a tree of it.
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

  /// Whom an event is about: its `subject`; nothing where it has none.
  static func subject(_ json: [UInt8]) -> String {
    var reader = JSONReader(json, limits: .ownDocuments)
    do throws(JSONError) {
      try reader.beginObject()
      while let name = try reader.nextKey() {
        if name == "subject" { return try reader.readString() }
        // The attributes stand before the data.
        if name == "data" { return "" }
        try reader.passValue()
      }
    } catch { return "" }
    return ""
  }
}
