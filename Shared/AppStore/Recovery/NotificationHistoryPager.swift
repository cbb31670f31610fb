/// Pages through Get Notification History: a state machine that returns the next action and does no I/O.
///
/// The token of the next page is all that a pager needs to continue where another one stopped. The count of restarts is kept as well, so
/// that it stays limited after a crash.
public struct NotificationHistoryPager: Sendable, Hashable {
  public enum Action: Sendable, Hashable {
    /// Request a page, with the same body as before (``NotificationHistoryRequest``). The services' `RecoveryWork` and `GapWork` send it.
    case request(paginationToken: String?)
    case finished
    case failed(Failure)
  }

  /// Why the paging cannot go on.
  public enum Failure: Sendable, Hashable, CustomStringConvertible {
    /// Apple returned the same token twice in a row, so the paging would never end.
    case repeatedToken
    /// Apple announced another page, but returned no token for it.
    case missingToken
    /// Apple refused its own tokens, and the paging began again too often.
    case tooManyRestarts

    public var description: String {
      switch self {
      case .repeatedToken: "Apple returned the same pagination token twice in a row"
      case .missingToken: "Apple announced another page without a pagination token"
      case .tooManyRestarts: "Apple refused its own pagination tokens too often"
      }
    }
  }

  /// The error codes after which the paging begins again. 4000014: the token is invalid. 4000017: the token has expired. 4000012: the
  /// window's start has left Apple's retention during the paging.
  public static let restartingCodes: Set<Int64> = [4_000_012, 4_000_014, 4_000_017]
  static let maxRestarts = 5

  /// The next page's token; nil for the first page.
  public private(set) var paginationToken: String?
  public private(set) var restarts: Int

  public init(paginationToken: String? = nil, restarts: Int = 0) {
    self.paginationToken = paginationToken
    self.restarts = restarts
  }

  /// The next action, at the start or after a crash.
  public var next: Action { .request(paginationToken: paginationToken) }

  /// Records a page whose notifications were queued, with its `hasMore` and `paginationToken`.
  public mutating func received(hasMore: Bool, paginationToken token: String?) -> Action {
    guard hasMore else { return .finished }
    guard let token else { return .failed(.missingToken) }
    guard token != paginationToken else { return .failed(.repeatedToken) }
    paginationToken = token
    return next
  }

  /// Records that Apple refused a page. Returns nil if the error is not about paging. To begin again is harmless, because repeated
  /// notifications count once.
  public mutating func refused(errorCode: Int64) -> Action? {
    guard Self.restartingCodes.contains(errorCode) else { return nil }
    // The first page has no token. Apple would refuse it again, unless the caller moves the window's start (4000012).
    guard paginationToken != nil || errorCode == 4_000_012 else { return nil }
    restarts += 1
    paginationToken = nil
    return restarts > Self.maxRestarts ? .failed(.tooManyRestarts) : next
  }
}
