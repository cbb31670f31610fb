/// Walks through the pages of Get Notification History: a state machine that says what to do next and does nothing itself.
///
/// The token of the next page is its whole progress: a pager made with a stored token goes on where another one stopped.
public struct HistoryPager: Sendable, Hashable {
  public enum Action: Sendable, Hashable {
    /// Ask for a page, with the same body as always.
    case request(paginationToken: String?)
    case finished
    case failed(Failure)
  }

  public enum Failure: Sendable, Hashable, CustomStringConvertible {
    /// The same token twice in a row would go on for ever.
    case repeatedToken
    /// More pages are announced, and no way to them.
    case missingToken
    /// Tokens went bad time and again.
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

  /// What to do now, at the start or after a crash.
  public var next: Action { .request(paginationToken: paginationToken) }

  /// A page came and all that is in it was taken in.
  public mutating func received(hasMore: Bool, paginationToken token: String?) -> Action {
    guard hasMore else { return .finished }
    guard let token else { return .failed(.missingToken) }
    guard token != paginationToken else { return .failed(.repeatedToken) }
    paginationToken = token
    return next
  }

  /// Apple refused; nil when the code has nothing to do with paging. Starting over is harmless: repeats melt into one.
  public mutating func refused(errorCode: Int64) -> Action? {
    guard Self.restartingCodes.contains(errorCode) else { return nil }
    // A first page that is refused will be refused again.
    guard paginationToken != nil || errorCode == 4_000_012 else { return nil }
    restarts += 1
    paginationToken = nil
    return restarts > Self.maxRestarts ? .failed(.tooManyRestarts) : next
  }
}
