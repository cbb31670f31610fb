import AttributionProtocol
import WireJSON

/// A verdict on one input, for people and programs.
struct VerdictReport: Sendable, Hashable {
  let kind: String
  /// The line in the file, if there are several inputs.
  var line: Int?
  /// True if the signature and the content are valid; nil for a receipt, which is not verified.
  let valid: Bool?
  var reason: String?
  var field: String?
  var environment: String?
  var keyId: String?
  /// A remark on the verdict, such as what was not checked.
  var remark: String?
  /// For a notification: whether the type and the objects that it is about are known.
  var known: Bool?
  /// The decoded content.
  var content: JSONObject?
  /// The members of a postback that its signature does not cover.
  var unsigned: JSONObject?
  /// The names in ``unsigned`` whose value cannot be used.
  var unusable: [String]?

  init(
    kind: String, valid: Bool?, reason: String? = nil, field: String? = nil, environment: String? = nil, keyId: String? = nil,
    remark: String? = nil, known: Bool? = nil, content: JSONObject? = nil, unsigned: JSONObject? = nil, unusable: [String]? = nil
  ) {
    self.kind = kind
    self.valid = valid
    self.reason = reason
    self.field = field
    self.environment = environment
    self.keyId = keyId
    self.remark = remark
    self.known = known
    self.content = content
    self.unsigned = unsigned
    self.unusable = unusable
  }

  /// The report of a receipt: the ids in it.
  static func receipt(_ name: String, originals: [String], others: [String]) -> VerdictReport {
    VerdictReport(
      kind: name, valid: nil, remark: "receipts are not verified; any of the ids identifies the customer to the App Store Server API",
      content: [
        "originalTransactionIds": .array(originals.map { .string($0) }), "transactionIds": .array(others.map { .string($0) }),
      ])
  }

  /// The report of an input that is of no known kind or is broken. Other inputs of the file are still verified.
  static func unreadable(_ failure: CommandFailure) -> VerdictReport {
    VerdictReport(kind: "unreadable", valid: false, reason: failure.message)
  }

  var json: JSONObject {
    var object: JSONObject = ["kind": .string(kind)]
    object["line"] = line.map { .integer($0) }
    object["valid"] = valid.map { .bool($0) }
    object["reason"] = reason.map { .string($0) }
    object["field"] = field.map { .string($0) }
    object["environment"] = environment.map { .string($0) }
    object["keyId"] = keyId.map { .string($0) }
    object["remark"] = remark.map { .string($0) }
    object["known"] = known.map { .bool($0) }
    object["content"] = content.map { .object($0) }
    object["unsigned"] = unsigned.map { .object($0) }
    // A service answers with an empty list for a verdict on other data too.
    if unsigned != nil { object["unusable"] = unusable.map { .array($0.map { .string($0) }) } }
    return object
  }

  /// The report as a table for people, with the decoded content if `content` is true.
  func record(shows content: Bool) -> Record {
    var record = Record()
    record.add("kind", kind)
    switch valid {
    case true?: record.add("verdict", Cell("valid", .good))
    case false?: record.add("verdict", Cell("invalid", .bad))
    case nil: record.add("verdict", Cell("not verified", .warning))
    }
    record.add("reason", reason, .bad)
    record.add("field", field)
    record.add("environment", environment)
    record.add("key", keyId)
    record.add("note", remark)
    if known == false { record.add("known", Cell("no: this version does not know the type, or an object that it is about", .warning)) }
    guard content else { return record }
    for member in self.content?.members ?? [] { record.add(member.key, member.value.stringValue ?? member.value.serializedString) }
    for member in unsigned?.members ?? [] {
      let kind = unusable?.contains(member.key) == true ? "cannot be used" : "not signed"
      record.add("\(kind): \(member.key)", Cell(member.value.stringValue ?? member.value.serializedString, .warning))
    }
    return record
  }
}
