import AppStore
import WireJSON

/// The answer to a request, and the reasons for it.
struct RetentionDecision: Sendable, Hashable {
  /// The reason why an answer is not the preferred one.
  enum Cause: String, Sendable, Hashable, CaseIterable {
    /// Apple does not show a preferred message: it or one of its images is not approved, or it has an image where none may be.
    case unapproved
    /// Signer did not sign in time.
    case signer
    /// The subscription's history was not available in time.
    case history
    /// The decision service did not answer in time, or its answer cannot be used.
    case service
    /// There was no decision in time.
    case late
  }

  enum Source: String, Sendable, Hashable { case rules, service }

  var answer = RealtimeAnswer.defaultMessage
  var source = Source.rules
  /// The rule that applied.
  var rule: String?
  var causes: [Cause] = []
  /// Rules that might have applied if the history had been known.
  var undecided: [String] = []
  /// Preferred messages that may not be shown.
  var unapproved: [String] = []
  /// The customer's position in each experiment, hundredths of a percent.
  var experiments: [String: Int] = [:]
  /// The key of the offer's signature.
  var keyId: String?
  var offerIdentifier: String?
  var productId: String?
  /// The subscription's state that the rules used.
  var state: String?

  init() {}

  static var late: RetentionDecision {
    var decision = RetentionDecision()
    decision.causes = [.late]
    return decision
  }

  mutating func note(_ cause: Cause) {
    if !causes.contains(cause) { causes.append(cause) }
  }

  /// The decision as events contain it.
  var json: JSONObject {
    var object: JSONObject = ["source": .string(source.rawValue), "kind": .string(answer.kind)]
    object["rule"] = rule.map { .string($0) }
    object["messageIdentifier"] = answer.messageIdentifier.map { .string($0) }
    object["productId"] = productId.map { .string($0) }
    object["offerIdentifier"] = offerIdentifier.map { .string($0) }
    object["keyId"] = keyId.map { .string($0) }
    object["state"] = state.map { .string($0) }
    if !causes.isEmpty { object["fallbacks"] = .array(causes.map { .string($0.rawValue) }) }
    if !undecided.isEmpty { object["undecidedRules"] = .array(undecided.map { .string($0) }) }
    if !unapproved.isEmpty { object["unapprovedMessages"] = .array(unapproved.map { .string($0) }) }
    if !experiments.isEmpty {
      object["experiments"] = .object(
        JSONObject(experiments.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }))
    }
    return object
  }
}

/// The answer that is valid for all who send the same request, as Redis stores it. Its JSON is serialized once.
struct KeptAnswer: Sendable {
  /// One of a fixed set of values, for metrics (`RealtimeAnswer.kind`).
  let kind: String
  /// The body of the answer.
  let answer: [UInt8]
  /// The decision as events contain it.
  let decision: [UInt8]

  init(_ decision: RetentionDecision) {
    kind = decision.answer.kind
    var writer = JSONWriter(reserving: Self.usualAnswerBytes)
    writer.object(decision.answer.json)
    answer = writer.bytes
    self.decision = JSONValue.object(decision.json).serialized
  }

  /// An answer with the JWS of an offer is somewhat shorter.
  private static let usualAnswerBytes = 960

  var bytes: [UInt8] {
    var writer = JSONWriter(reserving: answer.count + decision.count + 32)
    writer.beginObject()
    writer.key("answer")
    writer.raw(answer)
    writer.key("decision")
    writer.raw(decision)
    writer.endObject()
    return writer.bytes
  }

  init?(bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes, limits: .ownDocuments).objectValue,
      let answer = object["answer"]?.objectValue.flatMap({ RealtimeAnswer(json: $0) }), let decision = object["decision"]?.objectValue
    else { return nil }
    kind = answer.kind
    self.answer = JSONValue.object(answer.json).serialized
    self.decision = JSONValue.object(decision).serialized
  }

  /// True if both are the same answer for the same reason.
  func isSame(as other: KeptAnswer) -> Bool { answer == other.answer && decision == other.decision }
}
