public import WireJSON

/// A message to which another party may add members, such as an object of Apple's. Members that this version does not know, or whose values
/// have an unexpected type, are not an error: they stay unchanged in ``other``. In requests and
/// responses of calls such objects are plain ``JSONObject``s, read by `JSONReader+Messages.swift`; a ``JSONNumber`` keeps every digit.
///
///     let transaction = TransactionPayload(object)
///     transaction.revocationType            // a member that the contract names
///     transaction.other["newField"]         // a member that it does not name
///     transaction.object == object          // no member is lost
public protocol OpenMessage: RPCMessage, Hashable {
  /// Reads the members that the contract names; the others go to ``other``.
  init(_ object: JSONObject)
  /// All members, those that the contract names first.
  var object: JSONObject { get }
  /// The members that the contract does not name, unchanged.
  var other: JSONObject { get set }
}

extension OpenMessage {
  public init() { self.init(JSONObject()) }

  public init(reading reader: inout JSONReader) throws(JSONError) { self.init(try reader.readObjectValue()) }

  public func write(to writer: inout JSONWriter) { writer.object(object) }
}

/// The `data` of events of one type, read with ``CloudEvent/data(as:)``.
public protocol EventData: OpenMessage {
  static var eventType: EventType { get }
}

extension CloudEvent {
  /// The data as the contract's message; nil if the event is of another type.
  public func data<Data: EventData>(as type: Data.Type) -> Data? {
    self.type == type.eventType.rawValue ? Data(data) : nil
  }
}

/// Converts the values of an open message's members. Each function returns nil unless writing its result gives the same value again; the
/// member then stays in ``OpenMessage/other``.
enum OpenValue {
  static func string(_ value: JSONValue) -> String? { value.stringValue }
  static func bool(_ value: JSONValue) -> Bool? { value.boolValue }
  static func object(_ value: JSONValue) -> JSONObject? { value.objectValue }

  static func int64(_ value: JSONValue) -> Int64? {
    guard let number = value.numberValue, let whole = number.int64, String(whole) == number.text else { return nil }
    return whole
  }

  static func int32(_ value: JSONValue) -> Int32? { int64(value).flatMap { Int32(exactly: $0) } }

  static func timestamp(_ value: JSONValue) -> Timestamp? {
    guard let text = value.stringValue, let time = Timestamp(text: text), time.text == text else { return nil }
    return time
  }

  static func message<Message: OpenMessage>(_ value: JSONValue) -> Message? { value.objectValue.map { Message($0) } }

  /// A list whose elements all have the expected type; nil for an empty list, because a message writes no empty lists.
  static func list<Element>(_ value: JSONValue, _ read: (JSONValue) -> Element?) -> [Element]? {
    guard let values = value.arrayValue, !values.isEmpty else { return nil }
    var elements: [Element] = []
    elements.reserveCapacity(values.count)
    for value in values {
      guard let element = read(value) else { return nil }
      elements.append(element)
    }
    return elements
  }
}
