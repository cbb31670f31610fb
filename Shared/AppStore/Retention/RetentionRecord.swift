public import WireJSON

/// A request for a retention message and what was answered, as it is queued to become an event.
public struct RetentionRecord: Sendable, Hashable {
  /// The kind of the message in the queue.
  public static let kind = "retention"
  /// The attribute that names the app whose URL the request came to.
  public static let bundleIdAttribute = "bundleId"

  /// As the App Store sent it: whoever publishes the event proves it anew.
  public let signedPayload: String
  /// The answer's body.
  public let answer: JSONObject
  /// How it came about.
  public let decision: JSONObject

  public init(signedPayload: String, answer: JSONObject, decision: JSONObject) {
    self.signedPayload = signedPayload
    self.answer = answer
    self.decision = decision
  }

  /// The message's body.
  public var body: [UInt8] {
    JSONValue.object(["signedPayload": .string(signedPayload), "answer": .object(answer), "decision": .object(decision)]).serialized
  }

  /// Reads ``body``; nil for anything else.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body, limits: .ownDocuments).objectValue, let payload = object["signedPayload"]?.stringValue,
      let answer = object["answer"]?.objectValue, let decision = object["decision"]?.objectValue
    else { return nil }
    self.init(signedPayload: payload, answer: answer, decision: decision)
  }
}
