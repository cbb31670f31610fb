import Cryptography
public import WireJSON

/// Apple's status of a subscription, from a response of Get All Subscription Statuses, queued by notification-recovery for verifier (queue
/// `intake`). Verifier verifies its JWS and adds the status to the history. If Apple cannot be asked about a gap, the message has only the
/// reason.
public struct StatusObservation: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "subscription-status"

  /// An element of `lastTransactions` in Apple's response.
  public struct Entry: Sendable, Hashable {
    /// Apple's status, 1 to 5.
    public let status: Int64
    public let signedTransactionInfo: String
    public let signedRenewalInfo: String?

    public init(status: Int64, signedTransactionInfo: String, signedRenewalInfo: String?) {
      self.status = status
      self.signedTransactionInfo = signedTransactionInfo
      self.signedRenewalInfo = signedRenewalInfo
    }

    /// Reads an element of `lastTransactions`; nil if a required member is missing.
    public init?(_ object: JSONObject) {
      guard let status = object["status"]?.int64Value, let transaction = object["signedTransactionInfo"]?.stringValue else { return nil }
      self.init(status: status, signedTransactionInfo: transaction, signedRenewalInfo: object["signedRenewalInfo"]?.stringValue)
    }
  }

  public let environment: String
  public let bundleId: String
  public let originalTransactionId: String
  /// Nil if Apple does not know the subscription, or could not be asked.
  public let entry: Entry?
  /// The gap that was looked up; nil if the status was requested for another reason.
  public let gap: GapReport?
  /// The UUIDs, in lower case, of the notifications that the look-up found. Verifier checks the gap after it has added them to the history.
  public let awaited: [String]
  /// The id of the migration of receipts for which the status was requested; nil for a gap.
  public let migrationId: String?
  /// Why Apple could not be asked about the gap; nil if it was asked.
  public let refusal: String?

  public init(
    environment: String, bundleId: String, originalTransactionId: String, entry: Entry?, gap: GapReport? = nil,
    awaited: [String] = [], migrationId: String? = nil, refusal: String? = nil
  ) {
    self.environment = environment
    self.bundleId = bundleId
    self.originalTransactionId = originalTransactionId
    self.entry = entry
    self.gap = gap
    self.awaited = awaited
    self.migrationId = migrationId
    self.refusal = refusal
  }

  /// The natural key. It depends on the content and not on the time of signing, so that the same status counts once.
  public static func naturalKey(
    environment: String, originalTransactionId: String, status: Int64, transactionInfo: JSONObject, renewalInfo: JSONObject?
  ) -> String {
    let digest = SignedContent.digest([["status": .integer(status)], transactionInfo, renewalInfo ?? [:]])
    return "appstore:\(environment):status:\(originalTransactionId):\(digest)"
  }

  /// The statuses of all subscriptions in a response of Get All Subscription Statuses, by original transaction id.
  public static func entries(in response: JSONObject) -> [(originalTransactionId: String, entry: Entry)] {
    (response["data"]?.arrayValue ?? []).flatMap { group in
      (group["lastTransactions"]?.arrayValue ?? []).compactMap { value in
        guard let object = value.objectValue, let id = object["originalTransactionId"]?.stringValue, let entry = Entry(object) else {
          return nil
        }
        return (id, entry)
      }
    }
  }

  /// The message's body.
  public var body: [UInt8] {
    var object: JSONObject = [
      "environment": .string(environment), "bundleId": .string(bundleId), "originalTransactionId": .string(originalTransactionId),
      "awaited": .array(awaited.map { .string($0) }),
    ]
    if let entry {
      object["status"] = .integer(entry.status)
      object["signedTransactionInfo"] = .string(entry.signedTransactionInfo)
      object["signedRenewalInfo"] = entry.signedRenewalInfo.map { .string($0) }
    }
    object["gap"] = gap.map { .string(String(decoding: $0.body, as: UTF8.self)) }
    object["migrationId"] = migrationId.map { .string($0) }
    object["refusal"] = refusal.map { .string($0) }
    return JSONValue.object(object).serialized
  }

  /// Parses a message's body; nil if it is invalid.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body).objectValue, let environment = object["environment"]?.stringValue,
      let bundleId = object["bundleId"]?.stringValue, let id = object["originalTransactionId"]?.stringValue
    else { return nil }
    var gap: GapReport?
    if let text = object["gap"]?.stringValue {
      guard let report = GapReport(body: Array(text.utf8)) else { return nil }
      gap = report
    }
    self.init(
      environment: environment, bundleId: bundleId, originalTransactionId: id, entry: Entry(object), gap: gap,
      awaited: object["awaited"]?.arrayValue?.compactMap(\.stringValue) ?? [], migrationId: object["migrationId"]?.stringValue,
      refusal: object["refusal"]?.stringValue)
  }
}

/// A transaction from Get Transaction History, queued by notification-recovery for verifier (queue `intake`). The message's body is its
/// JWS.
public enum TransactionObservation {
  /// The kind of the queue's message.
  public static let kind = "transaction"

  /// The natural key. It depends on the transaction's content and not on the time of signing, so a transaction counts again after a refund.
  public static func naturalKey(environment: String, transactionInfo: JSONObject) -> String {
    let id = transactionInfo["transactionId"]?.stringValue ?? ""
    return "appstore:\(environment):transaction:\(id):\(SignedContent.digest([transactionInfo]))"
  }
}

/// Identifies the content of decoded JWS, whenever they were signed.
enum SignedContent {
  /// The digest of the payloads without their times of signing, 32 hexadecimal digits.
  static func digest(_ payloads: [JSONObject]) -> String {
    let sorted = payloads.map { payload in
      var payload = payload
      payload["signedDate"] = nil
      return ordered(.object(payload))
    }
    return Hex.encode(SHA256Digest.hash(JSONValue.array(sorted).serialized).prefix(16))
  }

  /// The value with its members sorted by name, because Apple does not guarantee an order.
  private static func ordered(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object):
      .object(JSONObject(object.members.map { JSONObject.Member(key: $0.key, value: ordered($0.value)) }.sorted { $0.key < $1.key }))
    case .array(let elements): .array(elements.map(ordered))
    default: value
    }
  }
}
