import AppleAttribution
import AttributionProtocol
import HTTPClient
import WireJSON

/// Sends a session over HTTPS to a host that its ATT status allows.
struct SessionForwarder: Sendable {
  /// The result of sending a session.
  enum Result: Sendable {
    case delivered(host: String, status: Int)
    /// The host will never accept it.
    case refused(host: String, status: Int)
    case failed(error: String, retryAfter: Duration?)
  }

  let http: HTTPClient
  /// The timeout of one attempt.
  let timeout: Duration

  /// Tries the route's hosts in order. All of them are on the same side, with or without consent.
  ///
  /// - Parameter idempotencyKey: the same for every attempt, so that the receiver recognizes repeats.
  func send(_ payload: JSONObject, along route: ConsentRoute, idempotencyKey: String, traceparent: String?) async
    -> Result
  {
    var last = Result.failed(error: "no host", retryAfter: nil)
    let body = JSONValue.object(payload).serialized
    for host in route.hosts {
      last = await send(body, to: host, idempotencyKey: idempotencyKey, traceparent: traceparent)
      if case .failed = last { continue }
      return last
    }
    return last
  }

  private func send(_ body: [UInt8], to host: String, idempotencyKey: String, traceparent: String?) async -> Result {
    var headers = [
      ("Content-Type", "application/json"), ("Accept", "application/json"), ("Idempotency-Key", idempotencyKey),
    ]
    if let traceparent { headers.append(("traceparent", traceparent)) }
    do {
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: "https://\(host)/session", headers: headers, body: body, timeout: timeout,
          maxResponseBytes: 64 * 1024))
      switch response.status {
      case 200..<300: return .delivered(host: host, status: response.status)
      // These statuses reject the content, which will not change.
      case 400, 413, 422: return .refused(host: host, status: response.status)
      // All other statuses may be temporary: a redirect, expired credentials, a missing path.
      default:
        return .failed(
          error: "\(host) answered \(response.status)", retryAfter: RetryAfter.duration(response[header: "Retry-After"]))
      }
    } catch {
      return .failed(error: "\(host): \(error)", retryAfter: nil)
    }
  }
}

/// `Retry-After` in seconds. A date is not supported and counts as absent.
enum RetryAfter {
  static func duration(_ value: String?) -> Duration? {
    guard let value, let seconds = Int64(value.filter { $0 != " " }), (0...86_400).contains(seconds) else { return nil }
    return .seconds(seconds)
  }
}
