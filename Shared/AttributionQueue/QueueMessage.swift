import WireJSON

/// A queued message: the body as it was received, and its attributes.
public struct QueueMessage: Sendable, Hashable {
  /// The source of deliveries that came to ingest's public port.
  public static let publicSource = "public"
  /// The source of what notification-recovery fetched from Apple with an app's key.
  public static let recoverySource = "recovery"

  /// The kind of the body, such as `skadnetwork-postback` (`PostbackKind`) or `notification`.
  public var kind: String
  public var body: [UInt8]
  public var attributes: [String: String]
  /// Milliseconds since 1970.
  public var receivedAt: Int64
  /// `public`, `recovery` or `rpc`.
  public var source: String
  public var traceparent: String?
  /// The request's id (`X-Request-Id`), which `GetDeadLetter` returns. It may be the sender's own, so no span or log of a message has it.
  public var requestId: String?
  /// The part of the idempotency key's digest that identifies its claim in the deduplication store, in hexadecimal digits
  /// (``DeduplicationStore/Claim/digits(of:)``); set by ``DeliveryQueue/accept(_:)``.
  var claim: String?

  public init(
    kind: String, body: [UInt8], attributes: [String: String] = [:], receivedAt: Int64, source: String,
    traceparent: String? = nil,
    requestId: String? = nil
  ) {
    self.kind = kind
    self.body = body
    self.attributes = attributes
    self.receivedAt = receivedAt
    self.source = source
    self.traceparent = traceparent
    self.requestId = requestId
  }

  /// All but kind and body, as the queue stores it: JSON with the members `r` (received at), `s` (source), `t` (traceparent), `q` (request
  /// id), `c` (claim) and `a` (attributes).
  var envelope: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("r")
    writer.int(receivedAt)
    writer.key("s")
    writer.string(source)
    if let traceparent {
      writer.key("t")
      writer.string(traceparent)
    }
    if let requestId {
      writer.key("q")
      writer.string(requestId)
    }
    if let claim {
      writer.key("c")
      writer.string(claim)
    }
    if !attributes.isEmpty {
      writer.key("a")
      writer.beginObject()
      for (key, value) in attributes.sorted(by: { $0.key < $1.key }) {
        writer.key(dynamic: key)
        writer.string(value)
      }
      writer.endObject()
    }
    writer.endObject()
    return writer.bytes
  }

  /// Returns nil if the envelope cannot be read.
  init?(kind: String, body: [UInt8], envelope: [UInt8]) {
    var (receivedAt, source) = (Int64.min, "")
    var (traceparent, requestId, claim): (String?, String?, String?)
    var attributes: [String: String] = [:]
    do throws(JSONError) {
      var reader = JSONReader(envelope)
      try reader.beginObject()
      while let name = try reader.nextKey() {
        switch name {
        case "r": receivedAt = try reader.readInt64()
        case "s": source = try reader.readString()
        case "t": traceparent = try reader.readString()
        case "q": requestId = try reader.readString()
        case "c": claim = try reader.readString()
        case "a":
          try reader.beginObject()
          while let name = try reader.nextKey() { attributes[name] = try reader.readString() }
        default: try reader.skipValue()
        }
      }
      try reader.finish()
    } catch { return nil }
    // Times outside of 53 bits, which only damaged data has, would overflow where durations are computed.
    guard receivedAt.magnitude < 1 << 53, !source.isEmpty else { return nil }
    // Assigned one by one: calling the other initializer would copy the message and touch the reference counts of all its parts.
    self.kind = kind
    self.body = body
    self.attributes = attributes
    self.receivedAt = receivedAt
    self.source = source
    self.traceparent = traceparent
    self.requestId = requestId
    self.claim = claim
  }
}
