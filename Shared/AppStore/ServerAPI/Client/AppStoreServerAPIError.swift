public import WireJSON

/// An error that the App Store Server API returned, or a failure to reach it.
public struct AppStoreServerAPIError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What to do about the error. ``AppStoreServerAPIErrorRule`` chooses it by status and error code.
  public enum Classification: String, Sendable, Hashable, CaseIterable {
    /// Apple asks for a retry (the error codes whose names contain `Retryable`).
    case retry
    /// The app has sent too many requests to this endpoint, which must not be called before ``AppStoreServerAPIError/retryAt``.
    case rate
    /// Apple or the network failed. A read is retried. The outcome of a change is looked up before it is repeated.
    case server
    /// This server does not know the id, but the other one may.
    case tryOtherEnvironment
    /// Apple refused the bearer token.
    case credentials
    /// The app's setup at Apple or here is wrong; an operator must act.
    case configuration
    /// The same request will fail again.
    case permanent
  }

  public let classification: Classification
  /// The HTTP status; nil if there was no response.
  public let status: Int?
  /// Apple's error code, even if this version does not know it.
  public let errorCode: Int64?
  /// Apple's message, or a description of the failure.
  public let message: String
  /// The time before which the endpoint must not be called again, milliseconds since 1970.
  public let retryAt: Int64?
  /// The server that was called.
  public let server: AppStoreServer
  /// Apple's body if it is a JSON object without an error code; otherwise nil.
  public let details: JSONObject?
  /// If Apple refused the bearer token and the clocks differ: by how many seconds our clock is ahead of Apple's; negative if it is behind.
  public let clockDifference: Int64?

  public init(
    _ classification: Classification, status: Int? = nil, errorCode: Int64? = nil, message: String, retryAt: Int64? = nil,
    server: AppStoreServer, details: JSONObject? = nil, clockDifference: Int64? = nil
  ) {
    self.classification = classification
    self.status = status
    self.errorCode = errorCode
    self.message = message
    self.retryAt = retryAt
    self.server = server
    self.details = details
    self.clockDifference = clockDifference
  }

  /// True if Apple may have executed the request although it failed: there was no usable response, or one with a status of 500 or more.
  public var isOutcomeUnknown: Bool { classification == .server || (status ?? 0) >= 500 }

  /// True if the called server does not know the purchase.
  public var isUnknownPurchase: Bool { errorCode.map(AppStoreServerAPIErrorRule.unknownPurchase.contains) ?? false }

  public var description: String {
    let serverName = server == .production ? "production" : "sandbox"
    let number = errorCode.map { " error \($0)" } ?? status.map { " status \($0)" } ?? ""
    return "App Store Server API (\(serverName))\(number): \(message)"
  }
}
