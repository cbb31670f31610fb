/// The answers of OCSP responders, by the SHA-256 of the certificate's DER. Pure: the time, in seconds since 1970, is passed in.
///
/// An answer is valid from its `thisUpdate` to its `nextUpdate`, with the tolerance for clocks. It is refreshed at `nextUpdate`, or when it
/// has been kept for `maxAge`, whichever is earlier. If refreshing fails, an answer that is still valid is used. A final revocation
/// stays valid for ever. After a failure the responder is not asked again for `failureAge`.
///
/// The issuer is not part of the key: the certificate's signature binds the certificate to its issuer's key and name, and a responder is
/// asked about nothing else.
public struct RevocationCache: Sendable {
  public struct Limits: Sendable, Hashable {
    /// The greatest number of certificates that are remembered.
    public var capacity: Int
    /// Seconds after which an answer is refreshed, however long it is valid.
    public var maxAge: Int64
    /// Seconds without another query after a failure, or after an answer that is due at once.
    public var failureAge: Int64

    public init(capacity: Int = 64, maxAge: Int64 = 3600, failureAge: Int64 = 30) {
      self.capacity = capacity
      self.maxAge = maxAge
      self.failureAge = failureAge
    }
  }

  /// What to do about a certificate.
  public enum Finding: Sendable, Hashable {
    /// Use this answer.
    case response(OCSPResponse)
    /// A query failed a moment ago.
    case failed(RevocationGap)
    /// Ask the responder; if that fails, use the cached answer, which is still valid.
    case ask(cached: OCSPResponse?)
  }

  private struct Entry: Sendable {
    var response: OCSPResponse?
    var gap: RevocationGap?
    /// The time of the last query, and the time of the next one.
    var asked: Int64
    var due: Int64

    func validResponse(at time: Int64) -> OCSPResponse? {
      guard let response, response.status.isFinal || response.isCurrent(at: time) else { return nil }
      return response
    }

    /// True if no query is due. An `asked` in the future means that the clock was set back; then a query is due.
    func rests(at time: Int64) -> Bool { asked - OCSPResponse.tolerance <= time && time < due }
  }

  private let limits: Limits
  private var entries: LeastRecentlyUsedCache<[UInt8], Entry>

  public init(limits: Limits = Limits()) {
    self.limits = limits
    entries = LeastRecentlyUsedCache(capacity: limits.capacity)
  }

  public var count: Int { entries.count }

  public mutating func find(_ digest: [UInt8], at time: Int64) -> Finding {
    guard let entry = entries.use(digest) else { return .ask(cached: nil) }
    let cached = entry.validResponse(at: time)
    guard entry.rests(at: time) else { return .ask(cached: cached) }
    if let cached { return .response(cached) }
    return entry.gap.map { .failed($0) } ?? .ask(cached: nil)
  }

  /// Keeps an answer that came in at `time`; returns the answer to use. An answer older than the valid cached one does not replace it, so
  /// that nobody can hide a revocation by replaying an old `good`.
  public mutating func keep(_ response: OCSPResponse, for digest: [UInt8], at time: Int64) -> OCSPResponse {
    var counts = response
    if let cached = entries.peek(digest)?.validResponse(at: time), cached.thisUpdate > response.thisUpdate { counts = cached }
    let due = max(min(counts.nextUpdate, time + limits.maxAge), time + limits.failureAge)
    entries.keep(Entry(response: counts, gap: nil, asked: time, due: due), for: digest)
    return counts
  }

  /// Keeps a failure of a query at `time`; returns the cached answer if it is still valid.
  public mutating func keep(_ gap: RevocationGap, for digest: [UInt8], at time: Int64) -> OCSPResponse? {
    let cached = entries.peek(digest)?.validResponse(at: time)
    entries.keep(Entry(response: cached, gap: gap, asked: time, due: time + limits.failureAge), for: digest)
    return cached
  }

  /// True if the certificate is remembered and its next query is due within that many seconds.
  func isDue(_ digest: [UInt8], within seconds: Int64, at time: Int64) -> Bool {
    guard let entry = entries.peek(digest) else { return false }
    // After a failure nothing is asked before `failureAge` has passed.
    if entry.gap != nil, entry.rests(at: time) { return false }
    return !entry.rests(at: time + seconds)
  }

  /// The digests of all cached certificates.
  var digests: [[UInt8]] { entries.keys }
}
