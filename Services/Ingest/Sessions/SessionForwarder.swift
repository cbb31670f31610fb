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
    /// `retryAfter` is the longest that a host named.
    case failed(error: String, retryAfter: Duration?)
  }

  /// A host that did not accept the session, and its answer or the error.
  struct Failure: Sendable, Hashable {
    let host: String
    let result: String
  }

  /// The longest text of a failure.
  private static let maxResultLength = 100

  let http: HTTPClient
  /// The timeout of one attempt.
  let timeout: Duration
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  /// Tries the route's hosts in order. All of them are on the same side, with or without consent.
  ///
  /// - Parameter idempotencyKey: the same for every attempt, so that the receiver recognizes repeats.
  /// - Returns: the result, and the hosts before it that failed, which may have read the session.
  func send(_ payload: JSONObject, along route: ConsentRoute, idempotencyKey: String, traceparent: String?) async
    -> (result: Result, failures: [Failure])
  {
    var failures: [Failure] = []
    var last = Result.failed(error: "no host", retryAfter: nil)
    var longest: Duration?
    let body = JSONValue.object(payload).serialized
    for host in route.hosts {
      last = await send(body, to: host, idempotencyKey: idempotencyKey, traceparent: traceparent)
      guard case .failed(let error, let retryAfter) = last else { return (last, failures) }
      failures.append(Failure(host: host, result: String(error.prefix(Self.maxResultLength))))
      if let retryAfter { longest = max(longest ?? .zero, retryAfter) }
      last = .failed(error: "\(host): \(error)", retryAfter: longest)
    }
    return (last, failures)
  }

  /// The result of one request. The error does not name the host.
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
        return .failed(error: "answered \(response.status)", retryAfter: response.retryAfter(now: now() / 1000))
      }
    } catch {
      return .failed(error: "\(error)", retryAfter: nil)
    }
  }
}
