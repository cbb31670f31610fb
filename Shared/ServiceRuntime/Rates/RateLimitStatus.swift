/// The state of a client's rate limit as header fields (RateLimit header fields for HTTP, draft-ietf-httpapi-ratelimit-headers).
struct RateLimitStatus: Sendable, Hashable {
  /// The name of the public port's only policy.
  private static let policy = "\"peer\""
  /// The largest integer of a structured field (RFC 9651 section 3.3.1).
  private static let maxInteger = 999_999_999_999_999.0

  /// The number of requests that are allowed now.
  let left: Int
  /// Seconds until one more is allowed, rounded up, at least 1.
  let seconds: Int

  init(_ bucket: RequestBucket, _ rate: RequestRate) {
    // The same tolerance as when a token is taken.
    let whole = (bucket.left + 1e-9).rounded(.down)
    left = Int(whole)
    seconds = Self.seconds((whole + 1 - bucket.left) / rate.perSecond)
  }

  /// The header field `RateLimit`.
  var field: String { "\(Self.policy);r=\(left);t=\(seconds)" }

  /// The header field `RateLimit-Policy`: the burst, and the time in which it is refilled.
  static func policyField(_ rate: RequestRate) -> String {
    "\(policy);q=\(rate.burst);w=\(seconds(Double(rate.burst) / rate.perSecond))"
  }

  private static func seconds(_ time: Double) -> Int { Int(min(maxInteger, max(1, time.rounded(.up)))) }
}
