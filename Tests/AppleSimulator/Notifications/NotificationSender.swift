import WireJSON

/// Sends notifications like the App Store (*Responding to App Store Server Notifications*): in production again 1, 12,
/// 24, 48 and 72 hours after the previous attempt, in the sandbox once.
public struct NotificationSender: Sendable {
  /// Simulated milliseconds between attempts in production.
  static let waits: [Double] = [1, 12, 24, 48, 72].map { $0 * 3600 * 1000 }

  let http: OutgoingHTTP
  let retryingSender: RetryingSender
  let archive: NotificationArchive

  /// With `awaitingFirst`, returns after the first attempt.
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
