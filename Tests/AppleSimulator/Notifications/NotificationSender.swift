import WireJSON

/// Sends notifications as the App Store does (*Responding to App Store Server Notifications*). In the sandbox it makes one attempt. In
/// production it makes up to five more, 1, 12, 24, 48 and 72 hours after the previous one.
public struct NotificationSender: Sendable {
  /// The simulated milliseconds between the attempts in production.
  static let waits: [Double] = [1, 12, 24, 48, 72].map { $0 * 3600 * 1000 }

  let http: OutgoingHTTP
  let retryingSender: RetryingSender
  let archive: NotificationArchive

  /// Sends a notification in the background.
  ///
  /// - Parameter awaitingFirst: true to return after the first attempt.
  func send(_ record: NotificationRecord, to url: OutgoingURL, awaitingFirst: Bool) async {
    let body = JSONValue.object(["signedPayload": .string(record.signedPayload)]).serialized
    let waits = record.environment == .production ? Self.waits : []
    await retryingSender.deliver(waits: waits, awaitingFirst: awaitingFirst) { [self] in
      let start = retryingSender.time.now
      let response = await http.post(body, to: url, userAgent: "App Store Server Notifications")
      archive.addAttempt(record.uuid, .init(date: start, result: response.result, status: response.status))
      return response.result == .success
    }
  }
}
