import AppleAttribution
import WireJSON

/// The exchange of one token for Apple's record, from the first call to the outcome. Redis stores it (``ExchangeStore``), `GetExchange`
/// returns it, and ``event(names:filter:traceparent:)`` makes its event. It contains a digest of the token and not the token.
struct Exchange: Sendable, Hashable {
  /// One call of Apple's API.
  struct Attempt: Sendable, Hashable {
    /// Milliseconds since 1970.
    var at: Int64
    /// `200`, `404`, or an error.
    var result: String
  }

  /// The id of the token's delivery.
  let id: String
  /// `AttributionToken.key`: the digest that identifies the token.
  let tokenKey: String
  /// False for a token in another format than Apple's present one.
  let isBase64: Bool
  let bundleId: String
  let installId: String?
  /// The ATT status that decides which fields may be passed on: the one that came with the token, or that of a later withdrawal.
  private(set) var attStatus: ATTStatus
  /// The ATT status that came with the token.
  let attStatusAtReceipt: ATTStatus
  /// When the token was created, milliseconds since 1970.
  let createdAt: Int64
  /// When the token was received, milliseconds since 1970.
  let receivedAt: Int64
  var attempts: [Attempt] = []
  /// The counts of failed calls, from which ``AdServicesRetryRule`` computes the next call.
  var history = AdServicesRetryRule.History()
  /// Nil while the exchange is undecided.
  var outcome: AdServicesOutcome?
  /// Apple's record; nil if Apple has returned none.
  var record: AppleAttribution.AttributionRecord?
  /// When the exchange was decided, milliseconds since 1970.
  var finishedAt: Int64?
  /// The event of an earlier exchange of the same install that this one supersedes.
  var supersedes: String?
  /// The event of an exchange of the same install that supersedes this one.
  var supersededBy: String?
  /// The time before which Apple must not be called again, milliseconds since 1970; nil if a call is possible at any time.
  var nextCallAt: Int64?
  /// The age of the token when the exchange was decided, milliseconds.
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

  /// The state in the responses of RPCs and in events.
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

  /// The id of the exchange's event.
  var eventId: String { "adservices-" + tokenKey }

  /// The record, without the fields that need consent if the user has not consented: the times of a record are personal data.
  ///
  /// - Parameter filter: also removes the fields that this deployment configures.
  func shownRecord(_ filter: ConsentFilter) -> ConsentFilter.Filtered? {
    record.map { filter.filter($0.normalized, consent: attStatus.isConsent) }
  }

  /// The same of the record as Apple sent it, with members that the contract does not name.
  func shownRawRecord(_ filter: ConsentFilter) -> JSONObject? {
    record.map { filter.filter($0.raw, consent: attStatus.isConsent).payload }
  }

  /// Applies the ATT status that is stored for the install now; nil if none is stored. It can only withdraw consent, not give it.
  mutating func apply(_ install: ATTInstall?) { attStatus = ConsentDecision.status(ofToken: attStatus, current: install) }

  /// True if a withdrawal of consent would change which fields are shown: if there is a record, the known status allows all of its fields,
  /// and the install is known.
  var needsCurrentStatus: Bool { record != nil && installId != nil && attStatus.isConsent }

  /// True if Apple's record and the ATT status that the SDK sent contradict each other: a record has times if, and only if, the status is
  /// authorized.
  var isATTMismatch: Bool {
    guard let record, record.attribution, !record.isTest, attStatusAtReceipt.isKnown else { return false }
    return (record.detail == .detailed) != attStatusAtReceipt.isConsent
  }
}

extension Exchange {
  /// The exchange as it is stored.
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
