/// Explains the results of Apple's attempts to deliver notifications (sendAttemptResult), so that an operator sees why none arrive.
public struct SendAttemptDiagnosis: Sendable, Hashable {
  /// Apple's `sendAttemptResult`.
  public let result: String
  /// The number of attempts with this result.
  public let count: Int64
  /// The result's meaning and what to check, as text for operators; nil for a success.
  public let advice: String?

  /// The results with their counts, most frequent first. Unknown values are kept.
  public static func diagnose(_ counts: [String: Int64]) -> [SendAttemptDiagnosis] {
    counts.filter { $0.value > 0 }
      .map { SendAttemptDiagnosis(result: $0.key, count: $0.value, advice: advice(for: $0.key)) }
      .sorted { $0.count != $1.count ? $0.count > $1.count : $0.result < $1.result }
  }

  /// The advice about a result; nil for `SUCCESS`.
  public static func advice(for result: String) -> String? {
    switch result {
    case "SUCCESS": nil
    case "SSL_ISSUE", "TLS_ISSUE":
      "the TLS handshake failed: check that the certificate is not expired, names the host, comes with its intermediates, "
        + "is publicly trusted, and that TLS 1.2 is offered"
    case "TIMED_OUT":
      "the server took too long: check its load, the proxy or load balancer in front of it, and a firewall that drops 17.0.0.0/8"
    case "NO_RESPONSE": "there was no response: check that the host name resolves to the server and that the firewall lets 17.0.0.0/8 in"
    case "SOCKET_ISSUE": "the connection could not be opened or was lost: check the port, the listener, and limits of connections"
    case "PREMATURE_CLOSE":
      "the connection was closed before the response was complete: check time limits and restarts of the proxy or load balancer"
    case "CIRCULAR_REDIRECT": "the URL redirects in a circle: do not redirect, and enter the final URL in App Store Connect"
    case "UNSUPPORTED_CHARSET": "the response names a character set that Apple does not accept: respond with an empty body"
    case "INVALID_RESPONSE": "the response was not valid HTTP: check the proxy or load balancer in front of the server"
    case "UNSUCCESSFUL_HTTP_RESPONSE_CODE": "the status was not 200 to 206: check the path of the URL, and why the server refused or failed"
    case "OTHER": "Apple states no reason: request a test notification and read its status"
    default: "this version does not know the result: see Apple's page sendAttemptResult"
    }
  }
}
