import Cryptography
public import WireJSON

/// A subscription in an answer of Get All Subscription Statuses, queued for verifier (queue `intake`). Its JWS are unchanged, and verifier
/// verifies them. If Apple cannot be asked about a gap, it has no answer but the reason.
public struct StatusObservation: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "subscription-status"

  /// An element of `lastTransactions` in Apple's response; nil if Apple does not know the subscription.
  public struct Entry: Sendable, Hashable {
    /// 1 to 5.
    public let status: Int64
    public let signedTransactionInfo: String
    public let signedRenewalInfo: String?

    public init(status: Int64, signedTransactionInfo: String, signedRenewalInfo: String?) {
      self.status = status
      self.signedTransactionInfo = signedTransactionInfo
      self.signedRenewalInfo = signedRenewalInfo
    }

    /// From an element of `lastTransactions`.
    public init?(_ object: JSONObject) {
      guard let status = object["status"]?.int64Value, let transaction = object["signedTransactionInfo"]?.stringValue else { return nil }
      self.init(status: status, signedTransactionInfo: transaction, signedRenewalInfo: object["signedRenewalInfo"]?.stringValue)
    }
  }

  public let environment: String
  public let bundleId: String
  public let originalTransactionId: String
  public let entry: Entry?
  /// The gap that was looked up.
  public let gap: GapReport?
  /// The UUIDs, in lower case, of the notifications that the look-up found. The gap is checked after they have been added.
  public let awaited: [String]
  public let migrationId: String?
  /// Why Apple cannot be asked about the gap; nil if it was asked.
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

  /// The key depends on the content and not on the time of signing.
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

/// A transaction of Get Transaction History, queued for verifier (queue `intake`). Its JWS is the message's body.
public enum TransactionObservation {
  /// The kind of the queue's message.
  public static let kind = "transaction"

  /// The key depends on the transaction's content and not on the time of signing. After a refund it is another one.
  public static func naturalKey(environment: String, transactionInfo: JSONObject) -> String? {
    guard let id = transactionInfo["transactionId"]?.stringValue else { return nil }
    return "appstore:\(environment):transaction:\(id):\(SignedContent.digest([transactionInfo]))"
  }
}

/// The content of decoded JWS without the time of signing.
enum SignedContent {
  static func digest(_ payloads: [JSONObject]) -> String {
    let sorted = payloads.map { payload in
      var payload = payload
      payload["signedDate"] = nil
      return ordered(.object(payload))
    }
    return Hex.encode(SHA256Digest.hash(JSONValue.array(sorted).serialized).prefix(16))
  }

  /// Sorts members by name, because Apple guarantees no order.
  private static func ordered(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object):
      .object(JSONObject(object.members.map { JSONObject.Member(key: $0.key, value: ordered($0.value)) }.sorted { $0.key < $1.key }))
    case .array(let elements): .array(elements.map(ordered))
    default: value
    }
  }
}
