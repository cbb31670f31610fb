import AttributionClient
import AttributionProtocol
import Cryptography
import HTTPClient
import WireJSON

/// Requests a test notification from Apple and follows it to the feed. Each way in which it can fail to arrive has its own exit code.
struct TestNotificationCheck: Sendable {
  private static let verified = EventType.notificationVerified.rawValue
  private static let rejected = EventType.notificationRejected.rawValue

  let connection: Connection
  let bundleId: String
  let environment: String
  /// The longest wait for Apple's status, and again for the event.
  let patience: Duration
  /// Called with a sentence after each step.
  let note: @Sendable (String) -> Void

  /// Throws ``CommandFailure`` with a code of ``DoctorCode`` if the notification does not arrive.
  func run() async throws {
    let name = "doctor-\(Hex.encode(RandomBytes.make(6)))"
    let events = connection.client.events
    _ = try await asked(.verifier) { () throws(RPCError) in
      try await events.createSubscription(CreateSubscriptionRequest(name: name, types: [Self.verified, Self.rejected], start: "now"))
    }
    let result: Result<Void, any Error>
    do {
      result = .success(try await sendAndFollow(name))
    } catch { result = .failure(error) }
    await Task {
      _ = try? await events.deleteSubscription(DeleteSubscriptionRequest(name: name), options: CallOptions(timeout: .seconds(5)))
    }
    .value
    try result.get()
  }

  private func sendAndFollow(_ subscription: String) async throws {
    let answer: RequestTestNotificationResponse
    do throws(RPCError) {
      answer = try await connection.client.recovery.requestTestNotification(
        RequestTestNotificationRequest(bundleId: bundleId, environment: environment))
    } catch { throw verdict(error) }
    note("Apple was asked for a test notification")
    switch try await status(answer.testNotificationToken) {
    case .refused(let reason): try await follow(nil, subscription, refused: reason)
    case .attempted(let status):
      let results = status.response?["sendAttempts"]?.arrayValue?.map { $0["sendAttemptResult"]?.stringValue ?? "" } ?? []
      note("Apple's attempts: \(results.joined(separator: ", "))")
      guard results.contains("SUCCESS") else { throw Self.failure(ofAttempt: results.last ?? "") }
      try await follow(status.payload?["notificationUUID"]?.stringValue, subscription, refused: nil)
    }
  }

  private enum Status {
    case attempted(GetTestNotificationStatusResponse)
    /// Apple's copy of the notification is not valid for our configuration; the value is the verdict's reason.
    case refused(String)
  }

  /// Waits for Apple's status of the first attempt to deliver.
  private func status(_ token: String) async throws -> Status {
    let end = ContinuousClock.now + patience
    var pauses: ArraySlice<Duration> = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(15)]
    while true {
      do throws(RPCError) {
        let answer = try await connection.client.recovery.getTestNotificationStatus(
          GetTestNotificationStatusRequest(bundleId: bundleId, environment: environment, testNotificationToken: token))
        if let attempts = answer.response?["sendAttempts"]?.arrayValue, !attempts.isEmpty { return .attempted(answer) }
      } catch {
        if error.reason == "SIGNED_DATA_INVALID" {
          let reason = error.metadata["verdict"] ?? ""
          note("Apple's copy of it does not fit our configuration: \(reason)")
          return .refused(reason)
        }
        if error.code != .notFound { throw verdict(error) }
      }
      let left = end - ContinuousClock.now
      guard left > .zero else {
        throw CommandFailure(
          code: 16, "after \(patience.components.seconds) s Apple has no status of it yet",
          advice: "Try again in some minutes; Apple's system status page tells of delays.")
      }
      try await Task.sleep(for: min(pauses.popFirst() ?? .seconds(30), max(.milliseconds(200), left)))
    }
  }

  /// Waits for the notification's event. A notification that was rejected has no known UUID: any event rejected for the same reason is
  /// taken for it, and events with other reasons are ignored.
  private func follow(_ notification: String?, _ subscription: String, refused: String?) async throws {
    let end = ContinuousClock.now + patience
    let events = connection.client.events
    var refusal: RPCError?
    while ContinuousClock.now < end {
      let wait = min(Duration.seconds(5), max(.milliseconds(100), end - .now))
      let pulled: PullEventsResponse
      do throws(RPCError) {
        pulled = try await events.pullEvents(
          PullEventsRequest(subscription: subscription, maxEvents: 100, waitMilliseconds: Int32(wait / .milliseconds(1)), leaseSeconds: 30))
        refusal = nil
      } catch {
        // The error may be transient, but while it lasts the absence of an event proves nothing.
        refusal = error
        try await Task.sleep(for: min(.seconds(1), max(.zero, end - .now)))
        continue
      }
      if !pulled.events.isEmpty {
        _ = try? await events.acknowledgeEvents(AcknowledgeEventsRequest(subscription: subscription, ackIds: pulled.events.map(\.ackId)))
      }
      for event in pulled.events.compactMap(\.event).map({ CloudEvent($0) }) {
        guard isOurs(event, notification, refused) else { continue }
        if event.type == Self.verified, notification != nil {
          note("it is on the feed: \(event.id)")
          return
        }
        if event.type == Self.rejected {
          let reason = event.data["reason"]?.stringValue ?? ""
          throw CommandFailure(
            code: 30, "it arrived, and verifier rejects it: \(reason)",
            advice: Self.reasons[reason] ?? "The verdict says why; verifier's log has more.")
        }
      }
    }
    if let refusal {
      throw CommandFailure(
        code: DoctorCode.serviceAway, "verifier cannot answer now: \(refusal)", advice: "Its log says why; so does /readyz of each service."
      )
    }
    guard notification != nil else {
      throw CommandFailure(
        code: 17, "Apple's copy of it does not fit our configuration, and it did not arrive either", advice: Self.reasons["wrong_app"])
    }
    throw CommandFailure(
      code: 31, "Apple delivered it, and after \(patience.components.seconds) s it is not on our feed",
      advice: "The URL in App Store Connect leads to another system that answers 200, or verifier is behind: attributionctl queues.")
  }

  private func isOurs(_ event: CloudEvent, _ notification: String?, _ refused: String?) -> Bool {
    let claimed = event.data["notificationUUID"]?.stringValue ?? event.data["claimedNotificationUUID"]?.stringValue ?? ""
    if let notification { return claimed.lowercased() == notification.lowercased() }
    return event.data["reason"]?.stringValue == refused && (event.data["environment"]?.stringValue ?? environment) == environment
  }

  private func asked<Answer>(_ service: ServiceName, _ question: () async throws(RPCError) -> Answer) async throws(CommandFailure) -> Answer
  {
    do throws(RPCError) { return try await question() } catch { throw serviceVerdict(error, service) }
  }

  private func serviceVerdict(_ error: RPCError, _ service: ServiceName) -> CommandFailure {
    let url = connection.layer.url(of: .service(service))
    switch error.code {
    case .unauthenticated, .permissionDenied:
      return CommandFailure(
        code: DoctorCode.tokenRefused, "\(service.rawValue) refuses our token: \(error.message)",
        advice: "The token must belong to a client in the configuration that may call this.")
    default:
      return CommandFailure(
        code: DoctorCode.serviceAway, "\(service.rawValue) does not answer at \(url): \(error)",
        advice: "Is it running? Its log says why not; \(url)/readyz what it waits for.")
    }
  }

  /// Converts an error of notification-recovery to doctor's exit code and advice.
  private func verdict(_ error: RPCError) -> CommandFailure {
    let said = error.message + (error.metadata["errorCode"].map { " (Apple's error \($0))" } ?? "")
    switch error.reason {
    case "APP_STORE_CREDENTIALS":
      return CommandFailure(
        code: 12, "Apple refuses the app's key (401)",
        advice:
          "appStoreServer: issuerId, keyId and privateKey must be of an In-App Purchase key of App Store Connect, not of an API key, and "
          + "bundleId the app's. Production refuses every key of an app that was never released: try --environment Sandbox.")
    case "APP_STORE_CONFIGURATION":
      return CommandFailure(
        code: 13, error.metadata["errorCode"] == "4040007" ? "no URL for notifications is set up with Apple" : said,
        advice: "App Store Connect, the app, App Information, App Store Server Notifications: a \(environment) URL, version 2.")
    case "APP_STORE_RATE_LIMITED":
      return CommandFailure(code: 15, "Apple's rate limit for test notifications is used up", advice: "Ask again later. \(said)")
    case "APP_STORE_UNAVAILABLE":
      return CommandFailure(
        code: 14, "Apple's server does not answer: \(said)",
        advice: "Can this system reach api.storekit.apple.com? A proxy, a firewall, ATTRIBUTION_CA_FILE?")
    default: break
    }
    switch error.code {
    case .deadlineExceeded:
      return CommandFailure(
        code: 14, "Apple's server does not answer: \(said)",
        advice: "Can this system reach api.storekit.apple.com? A proxy, a firewall, ATTRIBUTION_CA_FILE?")
    case .unauthenticated, .permissionDenied, .unavailable, .resourceExhausted, .internal, .unknown:
      return serviceVerdict(error, .notificationRecovery)
    default: return CommandFailure(code: 17, said, advice: "Look at `apps` in the configuration.")
    }
  }

  /// Converts Apple's reason why the notification could not be delivered.
  static func failure(ofAttempt result: String) -> CommandFailure {
    let (code, what, advice): (Int32, String, String)
    switch result {
    case "TLS_ISSUE", "SSL_ISSUE":
      (code, what, advice) = (
        20, "the TLS handshake failed",
        "The certificate must be publicly trusted, not expired, name the host, come with its intermediates; TLS 1.2 or later."
      )
    case "TIMED_OUT":
      (code, what, advice) = (
        21, "nothing answered in time",
        "A firewall that drops packets from 17.0.0.0/8, an overloaded balancer, or a server that answers after its work."
      )
    case "NO_RESPONSE":
      (code, what, advice) = (
        22, "the connection gave no answer", "Something takes the connection and closes it: a balancer without a server behind it."
      )
    case "SOCKET_ISSUE":
      (code, what, advice) = (
        22, "no connection",
        "The host name does not resolve in public DNS, the port is closed, or a firewall refuses 17.0.0.0/8. Port 443, or 1024 and above."
      )
    case "CIRCULAR_REDIRECT":
      (code, what, advice) = (
        23, "redirected in a circle", "The URL must answer itself: do not redirect http to https or to another host."
      )
    case "UNSUCCESSFUL_HTTP_RESPONSE_CODE":
      (code, what, advice) = (
        24, "an HTTP status other than 200 to 206",
        "404: the path is wrong (it is /v1/app-store/notifications, or that, a slash and the bundle id of an app of `apps`). 401, 403: something "
          + "in front asks for credentials. 413, 415: something in front changes the body. 502, 503: ingest is down or its queue is full."
      )
    case "INVALID_RESPONSE":
      (code, what, advice) = (25, "no proper HTTP answer", "Something that speaks another protocol listens on that port.")
    case "UNSUPPORTED_CHARSET":
      (code, what, advice) = (
        25, "no proper HTTP answer", "Something in front answers with a character set that Apple does not read."
      )
    case "PREMATURE_CLOSE":
      (code, what, advice) = (
        25, "the answer broke off", "The connection is closed before the answer is whole: look at the balancer's limits."
      )
    default: (code, what, advice) = (26, "Apple says \(result)", "Look at the log of what stands in front of ingest.")
    }
    return CommandFailure(code: code, "Apple could not deliver it: \(what)", advice: advice)
  }

  private static let reasons = [
    "wrong_app":
      "bundleId or appAppleId of this app is not what the configuration says: compare `apps` with App Store Connect. Or the URL is another "
      + "app's own.",
    "wrong_environment":
      "the app's `environments` do not hold this environment, or the URL of one environment belongs to another system.",
    "chain_invalid": "the chain does not lead to a pinned root: look at appStore.rootCertificates and at this machine's clock.",
    "certificate_revoked": "Apple's responder says that the certificate is revoked.",
    "unsupported_version": "App Store Connect sends version 1 to this URL: choose version 2.",
  ]

  /// Describes whether a URL for notifications can be reached from this machine.
  static func reachability(of url: String, http: HTTPClient) async -> String {
    guard url.hasPrefix("https://") else { return "\(url) is not https: Apple asks for HTTPS" }
    do throws(HTTPClientError) {
      let answer = try await http.send(
        HTTPClientRequest(method: "POST", url: url, headers: [("Content-Type", "application/json")], body: Array("{}".utf8)))
      return "a post without a notification is answered \(answer.status)" + (answer.status == 400 ? "" : "; ingest would answer 400")
    } catch { return "a post is not answered: \(error)" }
  }
}
