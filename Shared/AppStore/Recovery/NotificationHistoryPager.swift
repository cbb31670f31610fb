/// Pages through Get Notification History: a state machine that returns the next action and does no I/O.
///
/// The token of the next page is its whole state: a pager with a stored token continues where another one stopped.
public struct NotificationHistoryPager: Sendable, Hashable {
  public enum Action: Sendable, Hashable {
    /// Request a page, with the same body as before.
    case request(paginationToken: String?)
    case finished
    case failed(Failure)
  }

  public enum Failure: Sendable, Hashable, CustomStringConvertible {
    /// Apple returned the same token twice, which would never end.
    case repeatedToken
    /// Apple announced more pages without a token.
    case missingToken
    /// Tokens became invalid too often.
    case tooManyRestarts

    public var description: String {
      switch self {
      case .repeatedToken: "Apple answered the same pagination token twice in a row"
      case .missingToken: "Apple announced another page without a pagination token"
      case .tooManyRestarts: "Apple refused its own pagination tokens too often"
      }
    }
  }

  /// `4000014`: not a token; `4000017`: too old; `4000012`: the window's start has left the retention while paging.
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

  /// Records a page whose notifications were queued.
  public mutating func received(hasMore: Bool, paginationToken token: String?) -> Action {
    guard hasMore else { return .finished }
    guard let token else { return .failed(.missingToken) }
    guard token != paginationToken else { return .failed(.repeatedToken) }
    paginationToken = token
    return next
  }

  /// Records that Apple refused a page. Nil if the error is not about paging. Starting again is harmless, because repeated notifications
  /// count once.
  public mutating func refused(errorCode: Int64) -> Action? {
    guard Self.restartingCodes.contains(errorCode) else { return nil }
    // A refused first page would be refused again.
    guard paginationToken != nil || errorCode == 4_000_012 else { return nil }
    restarts += 1
    paginationToken = nil
    return restarts > Self.maxRestarts ? .failed(.tooManyRestarts) : next
  }
}
