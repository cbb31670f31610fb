/// The responses of OCSP responders, by the SHA-256 of the certificate's DER. It reads no clock: the time, in seconds since 1970, is passed
/// in.
///
/// A response is valid from its `thisUpdate` to its `nextUpdate`, with the tolerance for clocks. It is refreshed at `nextUpdate`, or
/// `maxAge` after its query, whichever is earlier. If refreshing fails, a response that is still valid is used. A revocation that cannot be
/// undone stays valid for ever. After a failure the responder is not queried again for `failureAge`.
///
/// The issuer is not part of the key, because the certificate's signature binds the certificate to its issuer's key and name.
public struct RevocationCache: Sendable {
  public struct Limits: Sendable, Hashable {
    /// The greatest number of certificates in the cache.
    public var capacity: Int
    /// Seconds after which a response is refreshed, even if it is valid for longer.
    public var maxAge: Int64
    /// Seconds without another query after a failure. Also the least time between two queries, even if `nextUpdate` is earlier.
    public var failureAge: Int64

    public init(capacity: Int = 64, maxAge: Int64 = 3600, failureAge: Int64 = 30) {
      self.capacity = capacity
      self.maxAge = maxAge
      self.failureAge = failureAge
    }
  }

  /// The result of a look-up.
  public enum Finding: Sendable, Hashable {
    /// The cached response is to be used; no query is due.
    case response(OCSPResponse)
    /// The last query failed, there is no valid response, and no query is due.
    case failed(RevocationGap)
    /// The responder is to be queried. If that fails, `cached` is to be used: a response that is still valid, or nil if there is none.
    case ask(cached: OCSPResponse?)
  }

  private struct Entry: Sendable {
    var response: OCSPResponse?
    /// Why the last query failed; nil if it did not.
    var gap: RevocationGap?
    /// The time of the last query.
    var lastQuery: Int64
    /// The time at which the next query is due.
    var nextQuery: Int64

    func validResponse(at time: Int64) -> OCSPResponse? {
      guard let response, response.status.isFinal || response.isCurrent(at: time) else { return nil }
      return response
    }

    /// True if no query is due. A `lastQuery` in the future means that the clock was set back; then a query is due.
    func needsNoQuery(at time: Int64) -> Bool { lastQuery - OCSPResponse.tolerance <= time && time < nextQuery }
  }

  private let limits: Limits
  private var entries: LeastRecentlyUsedCache<[UInt8], Entry>

  public init(limits: Limits = Limits()) {
    self.limits = limits
    entries = LeastRecentlyUsedCache(capacity: limits.capacity)
  }

  public var count: Int { entries.count }

  /// Looks up a certificate by its digest. Counts as a use of its entry.
  public mutating func find(_ digest: [UInt8], at time: Int64) -> Finding {
    guard let entry = entries.use(digest) else { return .ask(cached: nil) }
    let cached = entry.validResponse(at: time)
    guard entry.needsNoQuery(at: time) else { return .ask(cached: cached) }
    if let cached { return .response(cached) }
    return entry.gap.map { .failed($0) } ?? .ask(cached: nil)
  }

  /// Stores a response that was received at `time`, and returns the response to use. A response older than a valid cached one does not
  /// replace it, so that nobody can hide a revocation by replaying an old `good`.
  public mutating func keep(_ response: OCSPResponse, for digest: [UInt8], at time: Int64) -> OCSPResponse {
    var newest = response
    if let cached = entries.peek(digest)?.validResponse(at: time), cached.thisUpdate > response.thisUpdate { newest = cached }
    let nextQuery = max(min(newest.nextUpdate, time + limits.maxAge), time + limits.failureAge)
    entries.keep(Entry(response: newest, gap: nil, lastQuery: time, nextQuery: nextQuery), for: digest)
    return newest
  }

  /// Stores the failure of a query at `time`. Returns the cached response if it is still valid.
  public mutating func keep(_ gap: RevocationGap, for digest: [UInt8], at time: Int64) -> OCSPResponse? {
    let cached = entries.peek(digest)?.validResponse(at: time)
    entries.keep(Entry(response: cached, gap: gap, lastQuery: time, nextQuery: time + limits.failureAge), for: digest)
    return cached
  }

  /// True if the certificate is cached and its next query is due within that many seconds.
  func isDue(_ digest: [UInt8], within seconds: Int64, at time: Int64) -> Bool {
    guard let entry = entries.peek(digest) else { return false }
    // After a failure no query is made early: `failureAge` must pass first.
    if entry.gap != nil, entry.needsNoQuery(at: time) { return false }
    return !entry.needsNoQuery(at: time + seconds)
  }

  /// The digests of all cached certificates.
  var digests: [[UInt8]] { entries.keys }
}
