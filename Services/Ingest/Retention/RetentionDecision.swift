import AppStore
import WireJSON

/// The answer to a request, with the reasons that its event reports.
struct RetentionDecision: Sendable, Hashable {
  /// A reason why the answer is a fallback and not the preferred answer.
  enum Cause: String, Sendable, Hashable, CaseIterable {
    /// Apple would not show the preferred message: it or one of its images is not approved, or it has an image although it must have none.
    case unapproved
    /// Signer did not sign the offer in time.
    case signer
    /// The subscription's history was not available in time, although the decision depends on it.
    case history
    /// The decision service did not answer in time, or its answer cannot be used.
    case service
    /// The decision was not made in time.
    case late
  }

  /// What decided the answer: the configured rules, or the decision service.
  enum Source: String, Sendable, Hashable { case rules, service }

  var answer = RealtimeAnswer.defaultMessage
  var source = Source.rules
  /// The rule that applied.
  var rule: String?
  var causes: [Cause] = []
  /// The names of rules that might have applied if the history had been known.
  var undecided: [String] = []
  /// The identifiers of preferred messages that may not be shown.
  var unapproved: [String] = []
  /// The customer's position in each experiment, hundredths of a percent.
  var experiments: [String: Int] = [:]
  /// The id of the key that signed the offer.
  var keyId: String?
  var offerIdentifier: String?
  var productId: String?
  /// The subscription's state that the rules used.
  var state: String?

  init() {}

  /// The decision if none was made in time: the App Store shows its default message.
  static var late: RetentionDecision {
    var decision = RetentionDecision()
    decision.causes = [.late]
    return decision
  }

  /// Adds a cause, once.
  mutating func add(_ cause: Cause) {
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

/// A decision as it is sent and as Redis stores it: ``RetentionRecords`` returns it again for a repeated request. Its JSON is serialized
/// once.
struct StoredAnswer: Sendable {
  /// The kind of the answer, for metrics (`RealtimeAnswer.kind`).
  let kind: String
  /// The body of the response.
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

  /// The size for which memory is reserved. The longest usual answer, with the JWS of an offer, is somewhat shorter.
  private static let usualAnswerBytes = 960

  /// The answer and the decision as one JSON object, as Redis stores them.
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

  /// Reads a stored answer; nil if it cannot be read.
  init?(bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes, limits: .ownDocuments).objectValue,
      let answer = object["answer"]?.objectValue.flatMap({ RealtimeAnswer(json: $0) }), let decision = object["decision"]?.objectValue
    else { return nil }
    kind = answer.kind
    self.answer = JSONValue.object(answer.json).serialized
    self.decision = JSONValue.object(decision).serialized
  }

  /// True if both have the same answer and the same decision.
  func isSame(as other: StoredAnswer) -> Bool { answer == other.answer && decision == other.decision }
}
