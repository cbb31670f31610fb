import AppleAttribution
import AttributionProtocol
import HTTPClient
import WireJSON

/// Sends a session to the host that its status allows, over HTTPS.
struct SessionForwarder: Sendable {
  /// How one session fared.
  enum Result: Sendable {
    case delivered(host: String, status: Int)
    /// The host will never take it.
    case refused(host: String, status: Int)
    case failed(error: String, retryAfter: Duration?)
  }

  let http: HTTPClient
  /// Of one attempt.
  let timeout: Duration

  /// Tries the route's hosts in their order; each of them is on the same side of the split.
  ///
  /// - Parameter idempotencyKey: the same for every attempt, so that the receiving side can tell a repeat.
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
      // These judge what was sent, which will not change.
      case 400, 413, 422: return .refused(host: host, status: response.status)
      // All others may be of the host and pass: a redirection, a credential that ran out, a path that is not served for a while.
      default:
        return .failed(
          error: "\(host) answered \(response.status)", retryAfter: RetryAfter.duration(response[header: "Retry-After"]))
      }
    } catch {
      return .failed(error: "\(host): \(error)", retryAfter: nil)
    }
  }
}

/// `Retry-After` in seconds; a date is not understood and counts as absent.
enum RetryAfter {
  static func duration(_ value: String?) -> Duration? {
    guard let value, let seconds = Int64(value.filter { $0 != " " }), (0...86_400).contains(seconds) else { return nil }
    return .seconds(seconds)
  }
}
