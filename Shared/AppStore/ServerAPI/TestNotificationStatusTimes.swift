/// When the status of a test notification is asked for (Get Test Notification Status): Apple has none until its first attempt to deliver.
public enum TestNotificationStatusTimes {
  /// The times after the request. Without a status at the last one, the caller gives up.
  public static let afterRequest: [Duration] = [.seconds(2), .seconds(5), .seconds(15), .seconds(30)]

  /// Asks at each of these times until there is an answer. Returns nil if there is none at the last one.
  ///
  /// - Parameter wait: returns at the given time after the request.
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
