public import WireJSON

/// A request for a retention message and its answer, queued so that verifier publishes them as an event.
public struct RetentionRecord: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "retention"
  /// The name of the attribute with the bundle id of the app whose URL was called.
  public static let bundleIdAttribute = "bundleId"

  /// The App Store's JWS. It is verified again before the event is published.
  public let signedPayload: String
  /// The body of the answer (``RealtimeAnswer/json``).
  public let answer: JSONObject
  /// How the answer was chosen, as JSON.
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
  ///   - decision: JSON of the decision.
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

  /// Parses ``body(signedPayload:answer:decision:)``; nil if it is invalid.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body, limits: .ownDocuments).objectValue, let payload = object["signedPayload"]?.stringValue,
      let answer = object["answer"]?.objectValue, let decision = object["decision"]?.objectValue
    else { return nil }
    self.init(signedPayload: payload, answer: answer, decision: decision)
  }
}
