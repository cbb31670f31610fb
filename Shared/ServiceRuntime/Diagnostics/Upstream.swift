import AttributionProtocol
public import HTTPClient

/// An external server that a service calls, for diagnosis.
public struct Upstream: Sendable {
  /// The purpose, such as `App Store Server API, production`.
  public let name: String
  public let url: String
  let http: HTTPClient

  public init(name: String, url: String, http: HTTPClient) {
    self.name = name
    self.url = url
    self.http = http
  }

  private static let timeout: Duration = .seconds(5)
  /// The tolerance for the Date header, seconds: it has whole seconds, and the response's transfer takes time.
  private static let clockDifference: Int64 = 5

  /// Checks that the server responds, with any status, and that its clock agrees with ours.
  func findings() async -> [Finding] {
    let response: HTTPClientResponse
    let started = ContinuousClock.now
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
    if let date = response.date {
      let distance = date - WallClock.now() / 1000
      let isFar = abs(distance) > Self.clockDifference
      findings.append(
        Finding(
          check: "clock", state: isFar ? "warning" : "ok", subject: name,
          found: isFar ? "this machine is \(abs(distance)) s \(distance > 0 ? "behind" : "ahead")" : "matches this machine's clock",
          advice: isFar
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
