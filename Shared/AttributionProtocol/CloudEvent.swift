public import WireJSON

/// An event of the feed: CloudEvents 1.0 in its JSON format.
public struct CloudEvent: RPCMessage, Hashable {
  /// The same fact always has the same id, so that readers recognize repeats.
  public var id: String
  /// The service that published it.
  public var source: String
  public var type: String
  /// The app or ad network it is about.
  public var subject: String?
  /// When it was published.
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

  /// Reads an event of an answer; missing members are empty.
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

  /// The event in its JSON format. The caller writes `data`, which saves building a value for each of many events.
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
