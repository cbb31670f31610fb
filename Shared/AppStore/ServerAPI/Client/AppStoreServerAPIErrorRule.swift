import WireJSON

/// Classifies answers of the App Store Server API (App Store Server API error codes).
public enum AppStoreServerAPIErrorRule {
  /// "Please try again": the account, app or original transaction was not found for now, or an unknown error.
  static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]
  static let rateLimited: Int64 = 4_290_000
  /// The id is unknown in this environment.
  public static let transactionNotFound: Int64 = 4_040_010
  /// The same error of endpoints that accept only original transaction ids.
  static let originalTransactionNotFound: Int64 = 4_040_005
  /// Apple has no extension for all active subscribers with that identifier.
  public static let extensionRequestNotFound: Int64 = 4_040_009
  /// All codes for an unknown purchase: no such account, original transaction or transaction.
  static let unknownPurchase: Set<Int64> = [4_040_001, originalTransactionNotFound, transactionNotFound]
  /// The Advanced Commerce request identifier was used before.
  public static let repeatedRequestReference: Int64 = 4_000_097
  /// A wrong app identifier, or no notification URL configured.
  static let configuration: Set<Int64> = [4_000_002, 4_040_007]

  /// The error of an answer; nil for success, any 2xx.
  ///
  /// - Parameters:
  ///   - header: returns a header of the answer by name.
  ///   - now: milliseconds since 1970.
  ///   - mayTryOther: true if the caller did not name the environment and this is the first server.
  public static func error(
    status: Int, header: (String) -> String?, body: [UInt8], server: AppStoreServer, mayTryOther: Bool, now: Int64
  ) -> AppStoreServerAPIError? {
    guard !(200..<300).contains(status) else { return nil }
    // The body is parsed regardless of its content type; without a body only the status is left.
    let object = try? JSONValue(parsing: body).objectValue
    let code = object?["errorCode"]?.int64Value
    let message = object?["errorMessage"]?.stringValue ?? "status \(status)"
    let kind = classify(status: status, errorCode: code, mayTryOther: mayTryOther && server == .production)
    return AppStoreServerAPIError(
      kind, status: status, errorCode: code, message: String(message.prefix(300)),
      retryAt: kind == .rate ? RetryAfterRule.retryAt(header: header("Retry-After"), now: now) : nil, server: server,
      details: code == nil ? object : nil)
  }

  /// The combined error if production and then the sandbox failed. If production refused the credentials it did not search, so an unknown
  /// purchase in the sandbox proves nothing.
  static func verdict(production: AppStoreServerAPIError, sandbox: AppStoreServerAPIError) -> AppStoreServerAPIError {
    production.classification == .credentials && sandbox.isUnknownPurchase ? production : sandbox
  }

  /// True if an error shows that Apple accepted the token, false if it shows the opposite; nil for limits, the servers' own errors and
  /// answers that may be of a proxy between us and Apple.
  static func isTokenAccepted(_ error: AppStoreServerAPIError) -> Bool? {
    guard let status = error.status else { return nil }
    if status == 401 { return false }
    return error.errorCode != nil && status != 429 && status < 500 ? true : nil
  }

  /// The error if production refused a key that the sandbox accepts.
  static func notReleased(status: Int?) -> AppStoreServerAPIError {
    AppStoreServerAPIError(
      .configuration, status: status,
      message: "production refuses the app, but the sandbox accepts its key, so the key is right: the app was probably never released",
      server: .production)
  }

  /// The classification of a status and Apple's error code.
  static func classify(status: Int, errorCode: Int64?, mayTryOther: Bool) -> AppStoreServerAPIError.Classification {
    if let errorCode {
      if retryable.contains(errorCode) { return .retry }
      if errorCode == rateLimited { return .rate }
      if errorCode == transactionNotFound || errorCode == originalTransactionNotFound {
        return mayTryOther ? .tryOtherEnvironment : .permanent
      }
      if configuration.contains(errorCode) { return .configuration }
    }
    switch status {
    case 429: return .rate
    case 401: return .credentials
    case 500...: return .server
    default: return .permanent
    }
  }
}
