import AppStore
import AttributionClient
import AttributionProtocol
import Cryptography
import HTTPClient
import WireJSON

/// Requests a test notification from Apple and follows it to the feed. If it does not arrive, the exit code tells the kind of cause. A
/// subscription is created first, so that the notification's event cannot be missed.
struct TestNotificationCheck: Sendable {
  private static let verified = EventType.notificationVerified.rawValue
  private static let rejected = EventType.notificationRejected.rawValue

  let connection: Connection
  let bundleId: String
  let environment: String
  /// The maximum wait for the event, from the time of Apple's delivery status on.
  let timeout: Duration
  /// Called with a sentence after each step.
  let note: @Sendable (String) -> Void

  /// Throws ``CommandFailure`` with a code of ``DoctorCode`` if the notification does not arrive.
  func run() async throws {
    let name = "doctor-\(Hex.encode(RandomBytes.make(6)))"
    let events = connection.client.events
    _ = try await call(.verifier) { () throws(RPCError) in
      try await events.createSubscription(CreateSubscriptionRequest(name: name, types: [Self.verified, Self.rejected], start: "now"))
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await sendAndFollow(name))
    } catch { result = .failure(error) }
    // The subscription must be deleted even if the current task was cancelled: an unstructured task does not inherit the cancellation.
    await Task {
      _ = try? await events.deleteSubscription(DeleteSubscriptionRequest(name: name), options: CallOptions(timeout: .seconds(5)))
    }
    .value
    try result.get()
  }

  private func sendAndFollow(_ subscription: String) async throws {
    let response: RequestTestNotificationResponse
    do throws(RPCError) {
      response = try await connection.client.recovery.requestTestNotification(
        RequestTestNotificationRequest(bundleId: bundleId, environment: environment))
    } catch { throw recoveryFailure(error) }
    let requested = ContinuousClock.now
    note("requested a test notification from Apple")
    switch try await status(response.testNotificationToken, requested) {
    case .refused(let reason): try await follow(nil, subscription, refused: reason)
    case .attempted(let status):
      let results = status.response?["sendAttempts"]?.arrayValue?.map { $0["sendAttemptResult"]?.stringValue ?? "" } ?? []
      note("Apple's delivery attempts: \(results.joined(separator: ", "))")
      guard results.contains("SUCCESS") else { throw Self.failure(ofAttempt: results.last ?? "") }
      try await follow(status.payload?["notificationUUID"]?.stringValue, subscription, refused: nil)
    }
  }

  private enum Status {
    /// Apple has tried to deliver the notification.
    case attempted(GetTestNotificationStatusResponse)
    /// Apple's copy of the notification is not valid for the configuration. The value is the reason in verifier's verdict.
    case refused(String)
  }

  /// Waits until Apple has the status of its first attempt to deliver.
  private func status(_ token: String, _ requested: ContinuousClock.Instant) async throws -> Status {
    let answer = try await TestNotificationStatusTimes.firstAnswer {
      try await Task.sleep(until: requested + $0, clock: .continuous)
    } ask: {
      try await currentStatus(token)
    }
    guard let answer else {
      throw CommandFailure(
        code: 16, "Apple has no delivery status \(requested.duration(to: .now).components.seconds) s after the request",
        advice: "Try again in a few minutes; Apple's system status page reports delays.")
    }
    return answer
  }

  /// Apple's current delivery status; nil if there is none yet.
  private func currentStatus(_ token: String) async throws -> Status? {
    do throws(RPCError) {
      let status = try await connection.client.recovery.getTestNotificationStatus(
        GetTestNotificationStatusRequest(bundleId: bundleId, environment: environment, testNotificationToken: token))
      let attempts = status.response?["sendAttempts"]?.arrayValue ?? []
      return attempts.isEmpty ? nil : Status.attempted(status)
    } catch {
      if error.reason == "SIGNED_DATA_INVALID" {
        let reason = error.metadata["verdict"] ?? ""
        note("Apple's copy of the notification does not match the app's configuration: \(reason)")
        return Status.refused(reason)
      }
      if error.code == .notFound { return nil }
      throw recoveryFailure(error)
    }
  }

  /// Waits for the notification's event. If Apple's copy was refused, the notification's UUID is not known, and `notification` is nil. Then
  /// any event that was rejected for the reason `refused` counts as this notification's, and all other events are ignored.
  private func follow(_ notification: String?, _ subscription: String, refused: String?) async throws {
    let deadline = ContinuousClock.now + timeout
    let events = connection.client.events
    var lastError: RPCError?
    while ContinuousClock.now < deadline {
      let wait = min(Duration.seconds(5), max(.milliseconds(100), deadline - .now))
      let pulled: PullEventsResponse
      do throws(RPCError) {
        pulled = try await events.pullEvents(
          PullEventsRequest(subscription: subscription, maxEvents: 100, waitMilliseconds: Int32(wait / .milliseconds(1)), leaseSeconds: 30))
        lastError = nil
      } catch {
        // The error may be transient. As long as it lasts, it is unknown whether the event is missing.
        lastError = error
        try await Task.sleep(for: min(.seconds(1), max(.zero, deadline - .now)))
        continue
      }
      if !pulled.events.isEmpty {
        _ = try? await events.acknowledgeEvents(AcknowledgeEventsRequest(subscription: subscription, ackIds: pulled.events.map(\.ackId)))
      }
      for event in pulled.events.compactMap(\.event).map({ CloudEvent($0) }) {
        guard isOurs(event, notification, refused) else { continue }
        if event.type == Self.verified, notification != nil {
          note("the notification is on the feed: \(event.id)")
          return
        }
        if event.type == Self.rejected {
          let reason = event.data["reason"]?.stringValue ?? ""
          throw CommandFailure(
            code: 30, "the notification arrived, but verifier rejected it: \(reason)",
            advice: Self.adviceByReason[reason] ?? "The verdict gives the reason; see verifier's log for details.")
        }
      }
    }
    if let lastError {
      throw CommandFailure(
        code: DoctorCode.serviceUnavailable, "verifier cannot answer now: \(lastError)",
        advice: "See verifier's log and /readyz of each service."
      )
    }
    guard notification != nil else {
      throw CommandFailure(
        code: 17, "Apple's copy of the notification does not match the app's configuration, and the notification did not arrive",
        advice: Self.adviceByReason["wrong_app"])
    }
    throw CommandFailure(
      code: 31, "Apple delivered the notification, but it is not on the feed after \(timeout.components.seconds) s",
      advice:
        "The URL in App Store Connect belongs to another system, which answers 200, or verifier is late (see attributionctl queues)."
    )
  }

  /// True if the event is about the test notification.
  private func isOurs(_ event: CloudEvent, _ notification: String?, _ refused: String?) -> Bool {
    let uuid = event.data["notificationUUID"]?.stringValue ?? event.data["claimedNotificationUUID"]?.stringValue ?? ""
    if let notification { return uuid.lowercased() == notification.lowercased() }
    return event.data["reason"]?.stringValue == refused && (event.data["environment"]?.stringValue ?? environment) == environment
  }

  private func call<Response>(_ service: ServiceName, _ method: () async throws(RPCError) -> Response) async throws(CommandFailure)
    -> Response
  {
    do throws(RPCError) { return try await method() } catch { throw serviceFailure(error, service) }
  }

  /// Converts an error of a service that is not about Apple.
  private func serviceFailure(_ error: RPCError, _ service: ServiceName) -> CommandFailure {
    let url = connection.layer.url(of: .service(service))
    switch error.code {
    case .unauthenticated, .permissionDenied:
      return CommandFailure(
        code: DoctorCode.tokenRefused, "\(service.rawValue) refuses the token: \(error.message)",
        advice: "The token must belong to a client in the configuration that is allowed to call this method.")
    default:
      return CommandFailure(
        code: DoctorCode.serviceUnavailable, "\(service.rawValue) does not answer at \(url): \(error)",
        advice: "Check that it is running; if it is not, its log says why. \(url)/readyz shows what it waits for.")
    }
  }

  /// Converts an error of notification-recovery to doctor's exit code and advice.
  private func recoveryFailure(_ error: RPCError) -> CommandFailure {
    let message = error.message + (error.metadata["errorCode"].map { " (Apple's error \($0))" } ?? "")
    switch error.reason {
    case "APP_STORE_CREDENTIALS":
      let clock = Self.clock(error.metadata["clockDifferenceSeconds"])
      return CommandFailure(
        code: 12, "Apple refuses the app's key (401), and its otherKey if there is one" + (clock.map { "; \($0)" } ?? ""),
        advice: (clock == nil
          ? "" : "Synchronise the clocks of signer and notification-recovery (chrony or another NTP client). If that does not help: ")
          + "appStoreServer: issuerId, keyId and privateKey must be of an In-App Purchase key of App Store Connect, not of an API key, and "
          + "bundleId the app's. Production refuses every key of an app that was never released: try --environment Sandbox.")
    case "APP_STORE_CONFIGURATION" where error.metadata["status"] == "401":
      return CommandFailure(
        code: 12, message,
        advice: "Until the app is released, use --environment Sandbox, and remove Production from its environments in the configuration.")
    case "APP_STORE_CONFIGURATION":
      return CommandFailure(
        code: 13, error.metadata["errorCode"] == "4040007" ? "no notification URL is set in App Store Connect" : message,
        advice:
          "Set the \(environment) URL with version 2 in App Store Connect: the app, App Information, App Store Server Notifications."
      )
    case "APP_STORE_RATE_LIMITED":
      return CommandFailure(code: 15, "Apple's rate limit for test notifications is used up", advice: "Try again later. \(message)")
    case "APP_STORE_UNAVAILABLE":
      return CommandFailure(
        code: 14, "Apple's server does not answer: \(message)",
        advice: "Check that this system can reach api.storekit.apple.com: proxy, firewall, ATTRIBUTION_CA_FILE.")
    default: break
    }
    switch error.code {
    case .deadlineExceeded:
      return CommandFailure(
        code: 14, "Apple's server does not answer: \(message)",
        advice: "Check that this system can reach api.storekit.apple.com: proxy, firewall, ATTRIBUTION_CA_FILE.")
    case .unauthenticated, .permissionDenied, .unavailable, .resourceExhausted, .internal, .unknown:
      return serviceFailure(error, .notificationRecovery)
    default: return CommandFailure(code: 17, message, advice: "Check `apps` in the configuration.")
    }
  }

  /// Describes by how many seconds the service's clock is ahead of Apple's; nil if the clocks agree.
  static func clock(_ difference: String?) -> String? {
    guard let seconds = difference.flatMap({ Int64($0) }) else { return nil }
    return "the clock of notification-recovery is \(abs(seconds)) s \(seconds > 0 ? "ahead of" : "behind") Apple's"
  }

  /// Converts the result of Apple's last delivery attempt (*sendAttemptResult*).
  static func failure(ofAttempt result: String) -> CommandFailure {
    let (code, problem, advice): (Int32, String, String)
    switch result {
    case "TLS_ISSUE", "SSL_ISSUE":
      (code, problem, advice) = (
        20, "the TLS handshake failed",
        "The certificate must be publicly trusted, not expired, valid for the host and sent with its intermediates; TLS 1.2 or later."
      )
    case "TIMED_OUT":
      (code, problem, advice) = (
        21, "nothing answered in time",
        "Possible causes: a firewall drops packets from 17.0.0.0/8, the load balancer is overloaded, or the server is slow to answer."
      )
    case "NO_RESPONSE":
      (code, problem, advice) = (
        22, "the connection was closed without an answer", "A load balancer without a healthy instance accepts connections and closes them."
      )
    case "SOCKET_ISSUE":
      (code, problem, advice) = (
        22, "no connection",
        "The host name does not resolve in public DNS, the port is closed, or a firewall blocks 17.0.0.0/8. Use port 443, or 1024 and above."
      )
    case "CIRCULAR_REDIRECT":
      (code, problem, advice) = (
        23, "redirect loop", "The URL must answer without a redirect, neither from http to https nor to another host."
      )
    case "UNSUCCESSFUL_HTTP_RESPONSE_CODE":
      (code, problem, advice) = (
        24, "an HTTP status other than 200 to 206",
        "404: the path is wrong (/v1/app-store/notifications, optionally followed by a slash and the app's bundle id). 401, 403: a "
          + "proxy in front requires credentials. 413, 415: a proxy changes the body. 502, 503: ingest is down or its queue is full."
      )
    case "INVALID_RESPONSE":
      (code, problem, advice) = (25, "the answer is not valid HTTP", "A program with another protocol listens on that port.")
    case "UNSUPPORTED_CHARSET":
      (code, problem, advice) = (
        25, "unsupported character set", "A proxy in front answers with a character set that Apple does not support."
      )
    case "PREMATURE_CLOSE":
      (code, problem, advice) = (
        25, "the answer was cut off", "The connection is closed before the answer is complete: check the limits of the load balancer."
      )
    default: (code, problem, advice) = (26, "Apple reports \(result)", "Check the log of the proxy or load balancer in front of ingest.")
    }
    return CommandFailure(code: code, "Apple could not deliver the notification: \(problem)", advice: advice)
  }

  /// The advice by the reason in verifier's verdict.
  private static let adviceByReason = [
    "wrong_app":
      "bundleId or appAppleId of this app differs from the configuration: compare `apps` with App Store Connect. Or the URL belongs to "
      + "another app.",
    "app_not_named":
      "the notification names no app. Its body is kept: recover it from Apple's history, which names the app by the key that fetches it.",
    "wrong_environment":
      "the app's `environments` do not contain this environment, or the URL for this environment belongs to another system.",
    "chain_invalid": "the certificate chain does not end at a pinned root: check appStore.rootCertificates and this machine's clock.",
    "certificate_revoked": "Apple's OCSP responder reports that the certificate is revoked.",
    "unsupported_version": "App Store Connect sends version 1 notifications to this URL: choose version 2.",
  ]

  /// Describes whether a URL for notifications can be reached from this machine.
  static func reachability(of url: String, http: HTTPClient) async -> String {
    guard url.hasPrefix("https://") else { return "\(url) does not use https, which Apple requires" }
    do throws(HTTPClientError) {
      let response = try await http.send(
        HTTPClientRequest(method: "POST", url: url, headers: [("Content-Type", "application/json")], body: Array("{}".utf8)))
      return "a POST without a notification is answered with \(response.status)"
        + (response.status == 400 ? "" : "; ingest would answer 400")
    } catch { return "a POST is not answered: \(error)" }
  }
}
