/// The attribution of an install: the one outcome that counts if the install exchanged several tokens. The system makes a new token when
/// the user's ATT status changes (AdServices: Changelog, October 2025).
///
/// An outcome with more ``Detail`` supersedes one with less, whichever came first. If the details are equal, the outcome of the token that
/// was created last counts.
public struct InstallAttribution: Sendable, Hashable {
  /// What an outcome says about the install, in ascending order. The raw values are stored. A build that knows only the last two treats the
  /// others as absent.
  public enum Detail: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Apple had no record, or did not answer while the token was valid.
    case failed
    /// Apple found no ad.
    case organic
    /// Apple found an ad; the record has no times.
    case standard
    /// Apple found an ad; the record has times.
    case detailed

    /// The detail of an outcome. Nil for one that says nothing about the install: a test record, and a token that Apple refused.
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

  /// The id of the attribution's event.
  public let eventId: String
  public let detail: Detail
  /// The token's creation time, milliseconds since 1970.
  public let createdAt: Int64
  /// The id of the event that this attribution supersedes; nil if there is none.
  public let supersedes: String?

  public init(eventId: String, detail: Detail, createdAt: Int64, supersedes: String? = nil) {
    self.eventId = eventId
    self.detail = detail
    self.createdAt = createdAt
    self.supersedes = supersedes
  }

  /// The result of comparing a new attribution with the current one of its install.
  public enum JoinResult: Sendable, Hashable {
    /// The new attribution is the install's from now on. It names the event that it supersedes, if there was one.
    case applied(InstallAttribution)
    /// The new attribution is the install's already, because an earlier attempt of the same exchange stored it.
    case alreadyApplied(InstallAttribution)
    /// The install keeps its current attribution, whose event has this id.
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
