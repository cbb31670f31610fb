/// The times at which the status of a test notification is requested (Get Test Notification Status). Apple has no status until its first
/// attempt to deliver the notification.
public enum TestNotificationStatusTimes {
  /// The times after the request for the test notification. If there is no status at the last one, the caller gives up.
  public static let afterRequest: [Duration] = [.seconds(2), .seconds(5), .seconds(15), .seconds(30)]

  /// Requests the status at each of these times until there is one. Returns nil if there is none at the last time.
  ///
  /// - Parameters:
  ///   - wait: returns at the given time after the request for the test notification.
  ///   - ask: requests the status; nil if there is none yet.
  public static func firstAnswer<Answer>(
    wait: (Duration) async throws -> Void, ask: () async throws -> Answer?
  ) async throws -> Answer? {
    for time in afterRequest {
      try await wait(time)
      if let answer = try await ask() { return answer }
    }
    return nil
  }
}
