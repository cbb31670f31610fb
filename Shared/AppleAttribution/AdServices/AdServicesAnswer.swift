import WireJSON

/// What one call of Apple's AdServices API came to (AdServices: attributionToken(), response codes).
public enum AdServicesAnswer: Sendable, Hashable {
  /// 200 and a record, with an attribution or without.
  case record(AttributionRecord)
  /// 400: the token is not one.
  case invalidToken
  /// 404: asked too soon after the token was made, or too late.
  case notFound
  /// No answer that means anything; ask again later.
  case tryLater(RetryReason)

  /// Why an answer meant nothing.
  public enum RetryReason: Sendable, Hashable, CustomStringConvertible {
    /// A status other than 200, 400 and 404.
    case status(Int)
    /// 200 with something that is no record; the text says what is wrong, without the body.
    case malformed(String)
    /// No HTTP answer at all; the text names the failure.
    case transport(String)

    /// A short text for logs and attempt lists.
    public var description: String {
      switch self {
      case .status(let status): "status \(status)"
      case .malformed(let what): "malformed answer: \(what)"
      case .transport(let what): "transport: \(what)"
      }
    }
  }

  /// Judges an HTTP answer by its status and body.
  public init(status: Int, body: [UInt8]) {
    switch status {
    case 200:
      do { self = .record(try AttributionRecord(parsing: body)) } catch {
        self = .tryLater(.malformed("\(error.field): \(error.reason)"))
      }
    case 400: self = .invalidToken
    case 404: self = .notFound
    default: self = .tryLater(.status(status))
    }
  }
}
