import WireJSON

/// A notification and the attempts to deliver it.
public struct NotificationRecord: Sendable {
  struct Attempt: Sendable {
    /// Milliseconds since 1970.
    var date: Int64
    var result: AttemptResult
    /// The HTTP status; nil if there was no answer.
    var status: Int?
  }

  var uuid: String
  var bundleID: String
  var environment: AppStoreEnvironment
  var type: String
  var subtype: String?
  /// The time at which the App Store signed it, in milliseconds since 1970.
  var signedDate: Int64
  /// The ids by which *Get Notification History* finds the notification: those of the purchase's transactions and, for a subscription, the
  /// customer's appTransactionId.
  var transactionIDs: Set<String> = []
  var transactionID: String?
  var originalTransactionID: String?
  var signedPayload: String
  var attempts: [Attempt] = []
  /// True if *Get Notification History* contains it. Usually forged notifications are left out, because Apple did not send them.
  var isInHistory = true

  var wasDelivered: Bool { attempts.contains { $0.result == .success } }

  /// *notificationHistoryResponseItem*.
  var historyItem: JSONValue { .object(["signedPayload": .string(signedPayload), "sendAttempts": sendAttempts]) }

  /// *sendAttempts*.
  var sendAttempts: JSONValue {
    .array(
      attempts.map { .object(["attemptDate": .integer($0.date), "sendAttemptResult": .string($0.result.rawValue)]) })
  }

  /// The record as the control API returns it.
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
