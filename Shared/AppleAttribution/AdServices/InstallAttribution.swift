/// The attribution of an install. An install may exchange several tokens, because the system makes a new one when the user's ATT status
/// changes (AdServices, October 2025).
///
/// An install has exactly one attribution. A detailed record supersedes a standard one, whichever came first. Among records of the same
/// detail, that of the younger token counts.
public struct InstallAttribution: Sendable, Hashable {
  /// The attribution's event.
  public let eventId: String
  public let detail: AttributionRecord.Detail
  /// The token's creation time, milliseconds since 1970.
  public let createdAt: Int64
  /// The event that it supersedes.
  public let supersedes: String?

  public init(eventId: String, detail: AttributionRecord.Detail, createdAt: Int64, supersedes: String? = nil) {
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
    let takesOver = new.detail == current.detail ? new.createdAt >= current.createdAt : new.detail == .detailed
    guard takesOver else { return .superseded(by: current.eventId) }
    return .applied(
      InstallAttribution(eventId: new.eventId, detail: new.detail, createdAt: new.createdAt, supersedes: current.eventId))
  }
}
