public import WireJSON

/// An event of the feed: CloudEvents 1.0 in its JSON format.
///
/// `data` has all members of the event's data. ``data(as:)`` reads them as the contract's message for the event's type:
///
/// ```swift
/// if let verified = event.data(as: SKAdNetworkPostbackVerifiedEvent.self) { count(verified.transactionId) }
/// ```
public struct CloudEvent: RPCMessage, Hashable {
  /// Events about the same fact have the same id, so that readers recognize repeated events.
  public var id: String
  /// The service that published the event.
  public var source: String
  /// The type, of which ``EventType`` lists those of this version.
  public var type: String
  /// The app or the ad network that the event is about.
  public var subject: String?
  /// The time at which the event was published.
  public var time: Timestamp?
  public var data: JSONObject

  public init(id: String, source: String, type: EventType, subject: String?, time: Timestamp, data: JSONObject) {
    self.id = id
    self.source = source
    self.type = type.rawValue
    self.subject = subject
    self.time = time
    self.data = data
  }

  public init() {
    id = ""
    source = ""
    type = ""
    data = [:]
  }

  public init(reading reader: inout JSONReader) throws(JSONError) { self.init(try reader.readObjectValue()) }

  /// Reads an event. Missing members, and members with a value of another type, become empty or nil.
  public init(_ object: JSONObject) {
    id = object["id"]?.stringValue ?? ""
    source = object["source"]?.stringValue ?? ""
    type = object["type"]?.stringValue ?? ""
    subject = object["subject"]?.stringValue
    time = object["time"]?.stringValue.flatMap(Timestamp.init(text:))
    data = object["data"]?.objectValue ?? [:]
  }

  public func write(to writer: inout JSONWriter) {
    Self.write(to: &writer, id: id, source: source, type: type, subject: subject, time: time) { $0.object(data) }
  }

  /// An event in its JSON format. The closure writes the value of `data`, so that publishing an event builds no `JSONObject`.
  public static func json(
    id: String, source: String, type: EventType, subject: String?, time: Timestamp, data: (inout JSONWriter) -> Void
  ) -> [UInt8] {
    var writer = JSONWriter(reserving: 2048)
    write(to: &writer, id: id, source: source, type: type.rawValue, subject: subject, time: time, data: data)
    return writer.bytes
  }

  private static func write(
    to writer: inout JSONWriter, id: String, source: String, type: String, subject: String?, time: Timestamp?,
    data: (inout JSONWriter) -> Void
  ) {
    writer.beginObject()
    writer.key("specversion")
    writer.string("1.0")
    writer.key("id")
    writer.string(id)
    writer.key("source")
    writer.string(source)
    writer.key("type")
    writer.string(type)
    if let subject {
      writer.key("subject")
      writer.string(subject)
    }
    if let time {
      writer.key("time")
      writer.string(time.text)
    }
    writer.key("datacontenttype")
    writer.string("application/json")
    writer.key("data")
    data(&writer)
    writer.endObject()
  }
}
