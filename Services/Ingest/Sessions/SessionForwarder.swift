import AppleAttribution
import AttributionProtocol
import HTTPClient
import WireJSON

/// Sends a session over HTTPS to a host that its ATT status allows.
struct SessionForwarder: Sendable {
  /// The result of sending a session.
  enum Result: Sendable {
    case delivered(host: String, status: Int)
    /// The host refused the content of the session, so it will never accept it.
    case refused(host: String, status: Int)
    /// No host accepted the session; it can be retried. `retryAfter` is the longest of the hosts.
    case failed(error: String, retryAfter: Duration?)
  }

  /// A request that failed: the host, and its status or the error.
  struct Failure: Sendable, Hashable {
    let host: String
    let result: String
  }

  /// The greatest length of the text of a failure, which Redis stores.
  private static let maxResultLength = 100

  let http: HTTPClient
  /// The timeout of one request.
  let timeout: Duration
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  /// Sends a session to the hosts of a route in order, until one accepts or refuses it. All hosts of a route are for users with consent, or
  /// all for users without.
  ///
  /// - Parameter idempotencyKey: the same for every attempt, so that the receiver recognizes repeats.
  /// - Returns: the result, and the requests that failed. A host whose request failed may nevertheless have read the session.
  func send(_ payload: JSONObject, along route: ConsentRoute, idempotencyKey: String, traceparent: String?) async
    -> (result: Result, failures: [Failure])
  {
    var failures: [Failure] = []
    var last = Result.failed(error: "the route has no host", retryAfter: nil)
    var longestRetryAfter: Duration?
    let body = JSONValue.object(payload).serialized
    for host in route.hosts {
      last = await send(body, to: host, idempotencyKey: idempotencyKey, traceparent: traceparent)
      guard case .failed(let error, let retryAfter) = last else { return (last, failures) }
      failures.append(Failure(host: host, result: String(error.prefix(Self.maxResultLength))))
      if let retryAfter { longestRetryAfter = max(longestRetryAfter ?? .zero, retryAfter) }
      last = .failed(error: "\(host): \(error)", retryAfter: longestRetryAfter)
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
      // These statuses refuse the content, which is the same in each request.
      case 400, 413, 422: return .refused(host: host, status: response.status)
      // All other statuses may be temporary, also those of a redirect, expired credentials or a missing path.
      default:
        return .failed(error: "answered \(response.status)", retryAfter: response.retryAfter(now: now() / 1000))
      }
    } catch {
      return .failed(error: "\(error)", retryAfter: nil)
    }
  }
}
