public import WireJSON

/// An error of the App Store Server API, or of reaching it.
public struct AppStoreServerAPIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What to do about it (`AppStoreServerAPIErrorRule`).
  public enum Classification: String, Sendable, Hashable, CaseIterable {
    /// Apple asks for a retry.
    case retry
    /// Too many requests of this app to this endpoint; see ``AppStoreServerAPIError/retryAt``.
    case rate
    /// A failure of Apple or the network: a read is retried; of a change, the outcome is looked up first.
    case server
    /// The id may be known to the other server.
    case tryOtherEnvironment
    /// The token was refused.
    case credentials
    /// The setup at Apple is wrong; an operator must act.
    case configuration
    /// The same request will fail again.
    case permanent
  }

  public let classification: Classification
  /// HTTP status; nil when there was no answer.
  public let status: Int?
  /// Apple's error code, even if this version does not know it.
  public let errorCode: Int64?
  /// Apple's message, or a description of the failure.
  public let message: String
  /// The time before which the endpoint must not be called again, milliseconds since 1970.
  public let retryAt: Int64?
  public let server: AppStoreServer
  /// Apple's whole answer, if it has more than an error code and a message.
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

  /// True if Apple may have done what was requested: there was no answer, or a server error.
  public var isOutcomeUnknown: Bool { classification == .server || (status ?? 0) >= 500 }

  /// True if the called server does not know the purchase.
  public var isUnknownPurchase: Bool { errorCode.map(AppStoreServerAPIErrorRule.unknownPurchase.contains) ?? false }

  public var description: String {
    let place = server == .production ? "production" : "sandbox"
    let number = errorCode.map { " error \($0)" } ?? status.map { " status \($0)" } ?? ""
    return "App Store Server API (\(place))\(number): \(message)"
  }
}
