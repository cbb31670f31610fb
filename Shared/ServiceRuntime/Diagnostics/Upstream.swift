import AttributionProtocol
public import HTTPClient

/// An external server that a service calls, such as Apple's. `Diagnose` checks it.
public struct Upstream: Sendable {
  /// What the server is, such as `App Store Server API, production`.
  public let name: String
  public let url: String
  let http: HTTPClient

  public init(name: String, url: String, http: HTTPClient) {
    self.name = name
    self.url = url
    self.http = http
  }

  private static let timeout: Duration = .seconds(5)

  /// Checks that the server responds, with whatever status, and that the clock of this machine agrees with the server's.
  func findings() async -> [Finding] {
    let response: HTTPClientResponse
    let started = ContinuousClock.now
    let sentAt = WallClock.now()
    do throws(HTTPClientError) {
      response = try await http.send(HTTPClientRequest(method: "GET", url: url, timeout: Self.timeout))
    } catch {
      return [Finding(check: "apple", state: "failed", subject: name, found: "\(error)", advice: Self.advice(error))]
    }
    let milliseconds = Int64((ContinuousClock.now - started) / .milliseconds(1))
    var findings = [
      Finding(
        check: "apple", state: "ok", subject: name,
        found: "answers in \(milliseconds) ms (HTTP \(response.status), HTTP/\(response.httpVersion))")
    ]
    if let difference = response.clockDifference(sentAt: sentAt, receivedAt: WallClock.now()) {
      let isWrong = abs(difference) > HTTPClientResponse.clockTolerance
      findings.append(
        Finding(
          check: "clock", state: isWrong ? "warning" : "ok", subject: name,
          found: isWrong ? "this machine is \(abs(difference)) s \(difference > 0 ? "ahead" : "behind")" : "matches this machine's clock",
          advice: isWrong
            ? "Synchronise this machine's clock (chrony or another NTP client): Apple refuses tokens from the future and expired ones."
            : nil))
    }
    return findings
  }

  private static func advice(_ error: HTTPClientError) -> String {
    switch error {
    case .tls: "If a proxy intercepts TLS, set ATTRIBUTION_CA_FILE to its CA certificate. By default the system's trust anchors are used."
    case .timedOut: "Packets are dropped on the way. Check that the firewall allows outgoing HTTPS to this server."
    case .couldNotConnect: "Check that the host name resolves on this machine and that the network allows outgoing HTTPS to it."
    default: "Call the URL with curl on the service's machine."
    }
  }
}
