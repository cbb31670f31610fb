import AppleAttribution
import WireJSON

/// The exchange of one token, from the first call to its end, for `GetExchange` and the final event. It contains the token's key and not
/// the token.
struct Exchange: Sendable, Hashable {
  /// One call of Apple's API.
  struct Attempt: Sendable, Hashable {
    /// Milliseconds since 1970.
    var at: Int64
    /// `200`, `404`, or an error.
    var result: String
  }

  let id: String
  let tokenKey: String
  let isBase64: Bool
  let bundleId: String
  let installId: String?
  /// The status that decides what may be passed on: the one that came with the token, or a later withdrawal.
  private(set) var attStatus: ATTStatus
  /// The status that came with the token.
  let attStatusAtReceipt: ATTStatus
  let createdAt: Int64
  let receivedAt: Int64
  var attempts: [Attempt] = []
  var history = AdServicesRetryRule.History()
  /// Nil until it is decided.
  var outcome: AdServicesOutcome?
  var record: AppleAttribution.AttributionRecord?
  /// Milliseconds since 1970.
  var finishedAt: Int64?
  /// The event of an earlier exchange of the same install that this one supersedes.
  var supersedes: String?
  /// The event of an exchange of the same install that supersedes this one.
  var supersededBy: String?
  /// The time of the next call, milliseconds since 1970.
  var nextCallAt: Int64?
  /// The age of the token at the decision, milliseconds.
  var tokenAge: Int64?

  init(id: String, submission: TokenSubmission) {
    self.id = id
    tokenKey = submission.token.key
    isBase64 = submission.token.isBase64
    bundleId = submission.bundleId
    installId = submission.installId
    attStatus = submission.attStatus
    attStatusAtReceipt = submission.attStatus
    createdAt = submission.createdAt
    receivedAt = submission.receivedAt
  }

  /// The state for callers.
  enum State: String, Sendable {
    case attributed, pending, expired, invalid, failed
    case notAttributed = "not_attributed"
  }

  /// A test record does not count as an attribution.
  var state: State {
    switch outcome {
    case nil: .pending
    case .attributed: .attributed
    case .organic, .test: .notAttributed
    case .notFound: .failed
    case .invalidToken: .invalid
    case .expired: .expired
    }
  }

  var eventId: String { "adservices-" + tokenKey }

  /// The record without fields that need consent: its times are personal data, and are passed on only with the user's consent.
  ///
  /// - Parameter filter: also removes the fields that this deployment configures.
  func shownRecord(_ filter: ConsentFilter) -> ConsentFilter.Filtered? {
    record.map { filter.filter($0.normalized, consent: attStatus.isConsent) }
  }

  func shownRawRecord(_ filter: ConsentFilter) -> JSONObject? {
    record.map { filter.filter($0.raw, consent: attStatus.isConsent).payload }
  }

  /// Applies the state that is stored for the install now; nil if there is none. It can only withdraw consent.
  mutating func apply(_ install: ATTInstall?) { attStatus = ConsentDecision.status(ofToken: attStatus, current: install) }

  /// True if there is a record, the known status allows to show all of it, and the install is known. Only
  /// in this case can a withdrawal change what is shown.
  var needsCurrentStatus: Bool { record != nil && installId != nil && attStatus.isConsent }

  /// True if Apple's level of detail and the SDK's ATT status contradict each other. The record is detailed exactly if the status is
  /// authorized.
  var isATTMismatch: Bool {
    guard let record, record.attribution, !record.isTest, attStatusAtReceipt.isKnown else { return false }
    return (record.detail == .detailed) != attStatusAtReceipt.isConsent
  }
}

extension Exchange {
  /// The stored form.
  var json: JSONObject {
    var object: JSONObject = [
      "id": .string(id), "tokenKey": .string(tokenKey), "isBase64": .bool(isBase64), "bundleId": .string(bundleId),
      "attStatus": .integer(attStatus.code), "createdAt": .integer(createdAt), "receivedAt": .integer(receivedAt),
      "attempts": .array(attempts.map { ["at": .integer($0.at), "result": .string($0.result)] }),
      "notFound": .integer(history.notFound), "slow": .integer(history.slow),
    ]
    // Older builds read only `attStatus`, which decides what is shown.
    if attStatusAtReceipt != attStatus { object["attStatusAtReceipt"] = .integer(attStatusAtReceipt.code) }
    object["installId"] = installId.map { .string($0) }
    object["outcome"] = outcome.map { .string($0.rawValue) }
    object["record"] = record.map { .object($0.raw) }
    object["finishedAt"] = finishedAt.map { .integer($0) }
    object["supersedes"] = supersedes.map { .string($0) }
    object["supersededBy"] = supersededBy.map { .string($0) }
    object["nextCallAt"] = nextCallAt.map { .integer($0) }
    object["tokenAge"] = tokenAge.map { .integer($0) }
    return object
  }

  /// Nil if the stored value is damaged.
  init?(json object: JSONObject) {
    guard let id = object["id"]?.stringValue, let tokenKey = object["tokenKey"]?.stringValue,
      let bundleId = object["bundleId"]?.stringValue, let attStatus = object["attStatus"]?.int64Value,
      let createdAt = object["createdAt"]?.int64Value, let receivedAt = object["receivedAt"]?.int64Value
    else { return nil }
    self.id = id
    self.tokenKey = tokenKey
    isBase64 = object["isBase64"]?.boolValue ?? true
    self.bundleId = bundleId
    installId = object["installId"]?.stringValue
    self.attStatus = ATTStatus(code: attStatus)
    attStatusAtReceipt = ATTStatus(code: object["attStatusAtReceipt"]?.int64Value ?? attStatus)
    self.createdAt = createdAt
    self.receivedAt = receivedAt
    attempts = (object["attempts"]?.arrayValue ?? []).compactMap { attempt in
      guard let at = attempt["at"]?.int64Value, let result = attempt["result"]?.stringValue else { return nil }
      return Attempt(at: at, result: result)
    }
    history = .init(
      notFound: Int(object["notFound"]?.int64Value ?? 0), slow: Int(object["slow"]?.int64Value ?? 0))
    outcome = object["outcome"]?.stringValue.flatMap { AdServicesOutcome(rawValue: $0) }
    record = object["record"]?.objectValue.flatMap { try? AttributionRecord($0) }
    finishedAt = object["finishedAt"]?.int64Value
    supersedes = object["supersedes"]?.stringValue
    supersededBy = object["supersededBy"]?.stringValue
    nextCallAt = object["nextCallAt"]?.int64Value
    tokenAge = object["tokenAge"]?.int64Value
  }
}
