import WireJSON

/// A notification and the results of its deliveries.
public struct NotificationRecord: Sendable {
  struct Attempt: Sendable {
    var date: Int64
    var result: AttemptResult
    var status: Int?
  }

  var uuid: String
  var bundleID: String
  var environment: AppStoreEnvironment
  var type: String
  var subtype: String?
  /// The time at which Apple created it, in milliseconds since 1970.
  var signedDate: Int64
  /// All transaction ids of the customer concerned.
  var transactionIDs: Set<String> = []
  var transactionID: String?
  var originalTransactionID: String?
  var signedPayload: String
  var attempts: [Attempt] = []
  /// True if *Get Notification History* returns it.
  var isInHistory = true

  var wasDelivered: Bool { attempts.contains { $0.result == .success } }

  /// *notificationHistoryResponseItem*.
  var historyItem: JSONValue { .object(["signedPayload": .string(signedPayload), "sendAttempts": sendAttempts]) }

  var sendAttempts: JSONValue {
    .array(
      attempts.map { .object(["attemptDate": .integer($0.date), "sendAttemptResult": .string($0.result.rawValue)]) })
  }

  /// Its form in the control API.
  var controlJSON: JSONObject {
    var object: JSONObject = [
      "notificationUUID": .string(uuid), "bundleId": .string(bundleID), "environment": .string(environment.rawValue),
      "notificationType": .string(type),
    ]
    object["subtype"] = subtype.map { .string($0) }
    object["signedDate"] = .integer(signedDate)
    object["transactionId"] = transactionID.map { .string($0) }
    object["originalTransactionId"] = originalTransactionID.map { .string($0) }
    object["delivered"] = .bool(wasDelivered)
    object["sendAttempts"] = .array(
      attempts.map { attempt in
        var entry: JSONObject = [
          "attemptDate": .integer(attempt.date), "sendAttemptResult": .string(attempt.result.rawValue),
        ]
        if let status = attempt.status { entry["status"] = .integer(status) }
        return .object(entry)
      })
    object["signedPayload"] = .string(signedPayload)
    return object
  }
}
