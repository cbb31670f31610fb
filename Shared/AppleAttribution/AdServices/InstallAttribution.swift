/// Which attribution of an install stands, where several tokens of it were exchanged: the system makes a new token when the user's ATT
/// status changes (AdServices, October 2025).
///
/// Exactly one stands. A detailed record takes the place of a standard one, whichever came first; among records of the same detail
/// that of the younger token stands.
public struct InstallAttribution: Sendable, Hashable {
  /// The event that tells it.
  public let eventId: String
  public let detail: AttributionRecord.Detail
  /// Of the token, milliseconds since 1970.
  public let createdAt: Int64
  /// The event whose place it took.
  public let supersedes: String?

  public init(eventId: String, detail: AttributionRecord.Detail, createdAt: Int64, supersedes: String? = nil) {
    self.eventId = eventId
    self.detail = detail
    self.createdAt = createdAt
    self.supersedes = supersedes
  }

  /// What becomes of an attribution when it joins what is known of its install.
  public enum Joined: Sendable, Hashable {
    /// It stands from now on; it names the event whose place it takes, if there was one.
    case stands(InstallAttribution)
    /// It stands already: its exchange was begun before and not finished.
    case stood(InstallAttribution)
    /// Another one stands and remains.
    case superseded(by: String)
  }

  /// Joins a new attribution to the one that stands.
  public static func joining(_ new: InstallAttribution, to standing: InstallAttribution?) -> Joined {
    guard let standing else { return .stands(new) }
    if standing.eventId == new.eventId { return .stood(standing) }
    let takesOver = new.detail == standing.detail ? new.createdAt >= standing.createdAt : new.detail == .detailed
    guard takesOver else { return .superseded(by: standing.eventId) }
    return .stands(
      InstallAttribution(eventId: new.eventId, detail: new.detail, createdAt: new.createdAt, supersedes: standing.eventId))
  }
}
