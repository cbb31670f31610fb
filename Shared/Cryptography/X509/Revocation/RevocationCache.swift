/// What responders said of certificates, by the SHA-256 of their DER. Pure: the time, in seconds since 1970, is passed in.
///
/// An answer stands from its `thisUpdate` to its `nextUpdate`, with the clocks' tolerance, as when it came. It is asked for again earlier: at
/// `nextUpdate`, or when it has been kept for `maximumAge`. When that fails, what still stands is used. A final revocation stands for ever.
/// A failure keeps the responder from being asked again for `failureAge`.
///
/// The issuer is no part of the name: the certificate's signature binds it to its issuer's key and name, which is all that a
/// responder is asked about.
public struct RevocationCache: Sendable {
  public struct Limits: Sendable, Hashable {
    /// Certificates remembered.
    public var capacity: Int
    /// Seconds after which an answer is asked for again, however long it stands.
    public var maximumAge: Int64
    /// Seconds for which nobody is asked after a failure, or after an answer that is due at once.
    public var failureAge: Int64

    public init(capacity: Int = 64, maximumAge: Int64 = 3600, failureAge: Int64 = 30) {
      self.capacity = capacity
      self.maximumAge = maximumAge
      self.failureAge = failureAge
    }
  }

  /// What is to be done about a certificate.
  public enum Finding: Sendable, Hashable {
    /// This is the answer.
    case answer(OCSPResponse)
    /// Asked a moment ago, without success.
    case failed(RevocationGap)
    /// Ask; what stands meanwhile, should that fail.
    case ask(standing: OCSPResponse?)
  }

  private struct Entry: Sendable {
    var answer: OCSPResponse?
    var gap: RevocationGap?
    /// When the responder was last asked, and until when it is not asked again.
    var asked: Int64
    var due: Int64

    func standing(at time: Int64) -> OCSPResponse? {
      guard let answer, answer.status.isFinal || answer.isCurrent(at: time) else { return nil }
      return answer
    }

    /// A clock set back makes nothing younger than it is.
    func rests(at time: Int64) -> Bool { asked - OCSPResponse.tolerance <= time && time < due }
  }

  private let limits: Limits
  private var entries: RecentlyUsed<[UInt8], Entry>

  public init(limits: Limits = Limits()) {
    self.limits = limits
    entries = RecentlyUsed(capacity: limits.capacity)
  }

  public var count: Int { entries.count }

  public mutating func find(_ digest: [UInt8], at time: Int64) -> Finding {
    guard let entry = entries.use(digest) else { return .ask(standing: nil) }
    let standing = entry.standing(at: time)
    guard entry.rests(at: time) else { return .ask(standing: standing) }
    if let standing { return .answer(standing) }
    return entry.gap.map { .failed($0) } ?? .ask(standing: nil)
  }

  /// Keeps what came in at `time`; answers what counts from now on. An answer older than the one that stands does not displace it, so that
  /// nobody who plays back an old `good` can hide a revocation.
  public mutating func keep(_ answer: OCSPResponse, for digest: [UInt8], at time: Int64) -> OCSPResponse {
    var counts = answer
    if let standing = entries.peek(digest)?.standing(at: time), standing.thisUpdate > answer.thisUpdate { counts = standing }
    let due = max(min(counts.nextUpdate, time + limits.maximumAge), time + limits.failureAge)
    entries.keep(Entry(answer: counts, gap: nil, asked: time, due: due), for: digest)
    return counts
  }

  /// Keeps that asking failed at `time`; answers what stands all the same.
  public mutating func keep(_ gap: RevocationGap, for digest: [UInt8], at time: Int64) -> OCSPResponse? {
    let standing = entries.peek(digest)?.standing(at: time)
    entries.keep(Entry(answer: standing, gap: gap, asked: time, due: time + limits.failureAge), for: digest)
    return standing
  }

  /// Whether the certificate is remembered and will have to be asked about within so many seconds.
  func isDue(_ digest: [UInt8], within seconds: Int64, at time: Int64) -> Bool {
    guard let entry = entries.peek(digest) else { return false }
    // After a failure its rest is kept.
    if entry.gap != nil, entry.rests(at: time) { return false }
    return !entry.rests(at: time + seconds)
  }

  /// The names of what is remembered.
  var digests: [[UInt8]] { entries.keys }
}
