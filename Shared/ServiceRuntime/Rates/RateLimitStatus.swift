/// What is left to a peer of its rate, as it is told (RateLimit header fields for HTTP, draft-ietf-httpapi-ratelimit-headers).
struct RateLimitStatus: Sendable, Hashable {
  /// The name of the one policy that the public port has.
  private static let policy = "\"peer\""
  /// The largest whole number of a structured field (RFC 9651 section 3.3.1).
  private static let most = 999_999_999_999_999.0

  /// Requests that would be let through now.
  let left: Int
  /// Until there is one more, rounded up, at least 1.
  let seconds: Int

  init(_ bucket: RequestBucket, _ rate: RequestRate) {
    // A hair is forgiven, as when one is taken.
    let whole = (bucket.left + 1e-9).rounded(.down)
    left = Int(whole)
    seconds = Self.seconds((whole + 1 - bucket.left) / rate.perSecond)
  }

  /// The field `RateLimit`.
  var field: String { "\(Self.policy);r=\(left);t=\(seconds)" }

  /// The field `RateLimit-Policy`: the burst, and the time in which it comes back.
  static func policyField(_ rate: RequestRate) -> String {
    "\(policy);q=\(rate.burst);w=\(seconds(Double(rate.burst) / rate.perSecond))"
  }

  private static func seconds(_ time: Double) -> Int { Int(min(most, max(1, time.rounded(.up)))) }
}
