import WireJSON

/// Why a receipt could not be migrated, or some of its ids or signed transactions could not be used.
struct MigrationFailureRecord: Sendable, Hashable {
  /// The caller's id of the receipt; nil if the caller named none.
  let receiptId: String?
  /// The reason as a code, such as `malformed-receipt`, `refused` or `no-transaction`.
  let reason: String
  /// The reason for people.
  let message: String
  /// Apple's error code; nil without one.
  let errorCode: Int64?
  var transactionIds: [String]
  /// Milliseconds since 1970.
  let failedAt: Int64

  init(receiptId: String?, reason: String, message: String, errorCode: Int64? = nil, transactionIds: [String] = [], failedAt: Int64) {
    self.receiptId = receiptId
    self.reason = reason
    self.message = message
    self.errorCode = errorCode
    self.transactionIds = transactionIds
    self.failedAt = failedAt
  }

  /// The record as it is stored in Redis.
  var json: [UInt8] {
    var object: JSONObject = [
      "reason": .string(reason), "message": .string(message), "ids": .array(transactionIds.map { .string($0) }),
      "failedAt": .integer(failedAt),
    ]
    object["receiptId"] = receiptId.map { .string($0) }
    object["errorCode"] = errorCode.map { .integer($0) }
    return JSONValue.object(object).serialized
  }

  /// Parses a stored record; nil if it is invalid.
  init?(json bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue, let reason = object["reason"]?.stringValue else { return nil }
    self.init(
      receiptId: object["receiptId"]?.stringValue, reason: reason, message: object["message"]?.stringValue ?? "",
      errorCode: object["errorCode"]?.int64Value, transactionIds: object["ids"]?.arrayValue?.compactMap(\.stringValue) ?? [],
      failedAt: object["failedAt"]?.int64Value ?? 0)
  }
}
