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
  ///
  /// - Parameters:
  ///   - answer: JSON of the answer's body.
  ///   - decision: JSON of how it came about.
  public static func body(signedPayload: String, answer: [UInt8], decision: [UInt8]) -> [UInt8] {
    var writer = JSONWriter(reserving: signedPayload.utf8.count + answer.count + decision.count + 64)
    writer.beginObject()
    writer.key("signedPayload")
    writer.string(signedPayload)
    writer.key("answer")
    writer.raw(answer)
    writer.key("decision")
    writer.raw(decision)
    writer.endObject()
    return writer.bytes
  }

  /// Reads what ``body(signedPayload:answer:decision:)`` made; nil for anything else.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body, limits: .ownDocuments).objectValue, let payload = object["signedPayload"]?.stringValue,
      let answer = object["answer"]?.objectValue, let decision = object["decision"]?.objectValue
    else { return nil }
    self.init(signedPayload: payload, answer: answer, decision: decision)
  }
}
