/// The attribution of an install. An install may exchange several tokens, because the system makes a new one when the user's ATT status
/// changes (AdServices, October 2025).
///
/// An install has exactly one outcome that counts. One with more ``Detail`` supersedes one with less, whichever came first. Of equal ones,
/// that of the younger token counts.
public struct InstallAttribution: Sendable, Hashable {
  /// What an outcome says about the install, in ascending order. The raw values are stored; builds that know only the last two treat the
  /// others as absent.
  public enum Detail: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Apple had no record, or did not answer while the token was valid.
    case failed
    /// Apple attributed the install to no ad.
    case organic
    /// An ad, without times.
    case standard
    /// An ad, with times.
    case detailed

    /// Nil for an outcome that says nothing about the install: a test record, and a token that Apple refused.
    public init?(_ outcome: AdServicesOutcome, record: AttributionRecord?) {
      switch outcome {
      case .attributed: self = record?.detail == .detailed ? .detailed : .standard
      case .organic: self = .organic
      case .notFound, .expired: self = .failed
      case .test, .invalidToken: return nil
      }
    }

    public static func < (one: Detail, other: Detail) -> Bool { one.rank < other.rank }

    private var rank: Int {
      switch self {
      case .failed: 0
      case .organic: 1
      case .standard: 2
      case .detailed: 3
      }
    }
  }

  /// The attribution's event.
  public let eventId: String
  public let detail: Detail
  /// The token's creation time, milliseconds since 1970.
  public let createdAt: Int64
  /// The event that it supersedes.
  public let supersedes: String?

  public init(eventId: String, detail: Detail, createdAt: Int64, supersedes: String? = nil) {
    self.eventId = eventId
    self.detail = detail
    self.createdAt = createdAt
    self.supersedes = supersedes
  }

  /// The result of adding an attribution to the known one of its install.
  public enum JoinResult: Sendable, Hashable {
    /// It is the install's attribution from now on; it names the event that it supersedes, if there was one.
    case applied(InstallAttribution)
    /// It is the install's attribution already, because an earlier attempt of its exchange stored it.
    case alreadyApplied(InstallAttribution)
    /// The install keeps another attribution, that of this event.
    case superseded(by: String)
  }

  /// Decides between a new attribution and the install's current one.
  public static func joining(_ new: InstallAttribution, to current: InstallAttribution?) -> JoinResult {
    guard let current else { return .applied(new) }
    if current.eventId == new.eventId { return .alreadyApplied(current) }
    let takesOver = new.detail == current.detail ? new.createdAt >= current.createdAt : new.detail > current.detail
    guard takesOver else { return .superseded(by: current.eventId) }
    return .applied(
      InstallAttribution(eventId: new.eventId, detail: new.detail, createdAt: new.createdAt, supersedes: current.eventId))
  }
}
