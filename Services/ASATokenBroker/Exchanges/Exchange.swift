import AppleAttribution
import WireJSON

/// The exchange of one token for Apple's record, from the first call to the outcome. Redis stores it (``ExchangeStore``), `GetExchange`
/// returns it, and ``event(names:filter:traceparent:)`` makes its event. It contains a digest of the token and not the token.
///
/// A token that is posted again after an outcome without a record, while it lives, is asked about again: another round of the same exchange
/// (``beginRound()``), which ends with an event of its own. What a later submission adds to a decided exchange is published too.
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
  /// What all submissions of the token say together.
  private(set) var claims: TokenClaims
  /// The ATT status of the install that withdrew a consent; nil if none did.
  private(set) var withdrawal: ATTStatus?
  /// When the token was received, milliseconds since 1970.
  let receivedAt: Int64
  /// The number of the round, from 1.
  private(set) var round = 1
  /// The id of the last event; nil before the first.
  private(set) var lastEventId: String?
  /// The calls of this round.
  var attempts: [Attempt] = []
  /// The counts of failed calls, from which ``AdServicesRetryRule`` computes the next call.
  var history = AdServicesRetryRule.History()
  /// Nil while the exchange is undecided.
  var outcome: AdServicesOutcome?
  /// Apple's record; nil if Apple has returned none.
  var record: AppleAttribution.AttributionRecord?
  /// When the exchange was decided, milliseconds since 1970.
  var finishedAt: Int64?
  /// The event that the last one supersedes: of an earlier exchange of the same install, or of this exchange.
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
    claims = submission.claims
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

  /// The ATT status that came with the token; ``ATTStatus/unavailable`` if none did.
  var attStatusAtReceipt: ATTStatus { claims.attStatus ?? .unavailable }

  /// The ATT status that decides which fields may be passed on: the one that came with the token, or that of a later withdrawal.
  var attStatus: ATTStatus { withdrawal ?? attStatusAtReceipt }

  /// True if the token may be asked about again while it lives: Apple had no record, or did not answer.
  var mayBeAskedAgain: Bool { outcome == .notFound || outcome == .expired }

  /// The id of the event of this round.
  var eventId: String { "adservices-" + tokenKey + (round == 1 ? "" : "-\(round)") }

  /// Notes the id of the event that is about to be published. It supersedes the exchange's last event.
  mutating func willPublish(_ eventId: String) {
    (supersedes, supersededBy) = (lastEventId, nil)
    lastEventId = eventId
  }

  /// Begins the next round of a decided exchange.
  mutating func beginRound() {
    round += 1
    attempts = []
    history = .init()
    (outcome, finishedAt, tokenAge, nextCallAt, supersededBy) = (nil, nil, nil, nil, nil)
  }

  /// Adds what a later submission of the token says. Returns false if that is nothing new.
  @discardableResult
  mutating func join(_ later: TokenClaims) -> Bool { claims.join(later) }

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
  mutating func apply(_ install: ATTInstall?) {
    let decided = ConsentDecision.status(ofToken: attStatus, current: install)
    if decided != attStatus { withdrawal = decided }
  }

  /// True if a withdrawal of consent would change which fields are shown: if there is a record, the known status allows all of its fields,
  /// and the install is known.
  var needsCurrentStatus: Bool { record != nil && claims.installId != nil && attStatus.isConsent }

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
      "id": .string(id), "tokenKey": .string(tokenKey), "isBase64": .bool(isBase64), "bundleId": .string(claims.bundleId),
      "attStatus": .integer(attStatus.code), "createdAt": .integer(claims.createdAt), "receivedAt": .integer(receivedAt),
      "attempts": .array(attempts.map { ["at": .integer($0.at), "result": .string($0.result)] }),
      "notFound": .integer(history.notFound), "slow": .integer(history.slow),
    ]
    // Older builds read only `attStatus`, which decides what is shown.
    if attStatusAtReceipt != attStatus { object["attStatusAtReceipt"] = .integer(attStatusAtReceipt.code) }
    if claims.attStatus == nil { object["attStatusStated"] = false }
    object["installId"] = claims.installId.map { .string($0) }
    if !claims.conflicting.isEmpty { object["conflicting"] = .array(claims.conflicting.map { .string($0) }) }
    if round > 1 { object["round"] = .integer(round) }
    object["lastEventId"] = lastEventId.map { .string($0) }
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
    let current = ATTStatus(code: attStatus)
    let atReceipt = ATTStatus(code: object["attStatusAtReceipt"]?.int64Value ?? attStatus)
    claims = TokenClaims(
      bundleId: bundleId, installId: object["installId"]?.stringValue,
      attStatus: object["attStatusStated"]?.boolValue == false ? nil : atReceipt, createdAt: createdAt,
      conflicting: (object["conflicting"]?.arrayValue ?? []).compactMap(\.stringValue))
    withdrawal = current == atReceipt ? nil : current
    self.receivedAt = receivedAt
    round = Int(object["round"]?.int64Value ?? 1)
    lastEventId = object["lastEventId"]?.stringValue
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
