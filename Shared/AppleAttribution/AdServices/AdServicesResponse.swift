import WireJSON

/// The result of one call to Apple's AdServices API (AdServices: attributionToken(), response codes). ``AdServicesRetryRule`` decides what
/// follows.
public enum AdServicesResponse: Sendable, Hashable {
  /// 200 with a record, with or without an attribution.
  case record(AttributionRecord)
  /// 400: the token is invalid.
  case invalidToken
  /// 404: Apple has no record. The call was too soon after the token's creation, or the token has expired.
  case notFound
  /// There was no usable response. The call is retried later.
  case tryLater(RetryReason)

  /// Why there was no usable response.
  public enum RetryReason: Sendable, Hashable, CustomStringConvertible {
    /// A status other than 200, 400 and 404.
    case status(Int)
    /// 200 without a valid record. The text describes the error and does not contain the body.
    case malformed(String)
    /// There was no HTTP response. The text describes the failure.
    case transport(String)

    /// A short text for logs and for the list of attempts.
    public var description: String {
      switch self {
      case .status(let status): "status \(status)"
      case .malformed(let what): "malformed answer: \(what)"
      case .transport(let what): "transport: \(what)"
      }
    }
  }

  /// Classifies an HTTP response by its status and body.
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
