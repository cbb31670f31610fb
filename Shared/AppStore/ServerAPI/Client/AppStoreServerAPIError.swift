public import WireJSON

/// Why Apple's answer is not the one asked for.
public struct AppStoreServerAPIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is to be done about it (`AppStoreServerAPIErrorRule`).
  public enum Classification: String, Sendable, Hashable, CaseIterable {
    /// Apple asks to try again.
    case retry
    /// Too many requests of this app to this endpoint; ``AppStoreServerAPIError/retryAt`` says until when.
    case rate
    /// Apple's fault, or the network's: a read is tried again, a change looked up first.
    case server
    /// The id may live on the other server.
    case tryOtherEnvironment
    /// The token was refused.
    case credentials
    /// Something is set up wrongly with Apple; an operator must act.
    case configuration
    /// The same request will fail again.
    case permanent
  }

  public let classification: Classification
  /// HTTP status; nil when there was no answer.
  public let status: Int?
  /// Apple's number, also when this version does not know it.
  public let errorCode: Int64?
  /// Apple's words, or what went wrong without an answer.
  public let message: String
  /// Milliseconds since 1970 before which the endpoint must not be asked again.
  public let retryAt: Int64?
  public let server: AppStoreServer
  /// Apple's whole answer, where it says more than a number and words.
  public let details: JSONObject?

  public init(
    _ classification: Classification, status: Int? = nil, errorCode: Int64? = nil, message: String, retryAt: Int64? = nil,
    server: AppStoreServer, details: JSONObject? = nil
  ) {
    self.classification = classification
    self.status = status
    self.errorCode = errorCode
    self.message = message
    self.retryAt = retryAt
    self.server = server
    self.details = details
  }

  /// Whether Apple may have done what was asked: there was no answer, or one that says that something failed on the way.
  public var isOutcomeUnknown: Bool { classification == .server || (status ?? 0) >= 500 }

  /// Whether Apple knows no purchase of the id that was asked with, on the server that was asked.
  public var isUnknownPurchase: Bool { errorCode.map(AppStoreServerAPIErrorRule.unknownPurchase.contains) ?? false }

  public var description: String {
    let place = server == .production ? "production" : "sandbox"
    let number = errorCode.map { " error \($0)" } ?? status.map { " status \($0)" } ?? ""
    return "App Store Server API (\(place))\(number): \(message)"
  }
}
