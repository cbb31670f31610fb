import WireJSON

/// The result of one call of Apple's AdServices API (AdServices: attributionToken(), response codes).
public enum AdServicesResponse: Sendable, Hashable {
  /// 200 with a record, with or without an attribution.
  case record(AttributionRecord)
  /// 400: the token is invalid.
  case invalidToken
  /// 404: the call was too soon after the token was made, or too late.
  case notFound
  /// No usable answer; retry later.
  case tryLater(RetryReason)

  /// Why there was no usable answer.
  public enum RetryReason: Sendable, Hashable, CustomStringConvertible {
    /// A status other than 200, 400 and 404.
    case status(Int)
    /// 200 without a valid record; the text describes the error, without the body.
    case malformed(String)
    /// No HTTP response; the text names the failure.
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
