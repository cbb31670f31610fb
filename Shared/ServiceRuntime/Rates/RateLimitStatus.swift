/// The state of a client's rate limit, for the header fields of draft-ietf-httpapi-ratelimit-headers (RateLimit header fields for HTTP).
struct RateLimitStatus: Sendable, Hashable {
  /// The name of the public port's only policy.
  private static let policy = "\"peer\""
  /// The largest integer of a structured field (RFC 9651 section 3.3.1).
  private static let maxInteger = 999_999_999_999_999.0

  /// The number of requests that are allowed now.
  let remaining: Int
  /// Seconds until one more request is allowed, rounded up, at least 1.
  let secondsToNext: Int

  init(_ bucket: RequestBucket, _ rate: RequestRate) {
    // With the same tolerance as in RequestBucket.take.
    let whole = (bucket.tokens + RequestBucket.tolerance).rounded(.down)
    remaining = Int(whole)
    secondsToNext = Self.seconds((whole + 1 - bucket.tokens) / rate.perSecond)
  }

  /// The header field `RateLimit`.
  var field: String { "\(Self.policy);r=\(remaining);t=\(secondsToNext)" }

  /// The header field `RateLimit-Policy`: the burst, and the time in which it is refilled.
  static func policyField(_ rate: RequestRate) -> String {
    "\(policy);q=\(rate.burst);w=\(seconds(Double(rate.burst) / rate.perSecond))"
  }

  private static func seconds(_ time: Double) -> Int { Int(min(maxInteger, max(1, time.rounded(.up)))) }
}
