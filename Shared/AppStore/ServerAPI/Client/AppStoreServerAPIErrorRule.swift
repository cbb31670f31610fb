import WireJSON

/// What an answer of the App Store Server API means (App Store Server API error codes).
public enum AppStoreServerAPIErrorRule {
  /// "Please try again": account, app or original transaction not found, for now; unknown error.
  static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]
  static let rateLimited: Int64 = 4_290_000
  /// The id is unknown in the environment that was asked.
  public static let transactionNotFound: Int64 = 4_040_010
  /// The same, as the endpoints say it that take original transaction ids only.
  static let originalTransactionNotFound: Int64 = 4_040_005
  /// Apple has no extension for all active subscribers of that identifier.
  public static let extensionRequestNotFound: Int64 = 4_040_009
  /// All ways in which Apple says that it knows no such purchase: no such account, (original) transaction.
  static let unknownPurchase: Set<Int64> = [4_040_001, originalTransactionNotFound, transactionNotFound]
  /// The Advanced Commerce request identifier was used before.
  public static let repeatedRequestReference: Int64 = 4_000_097
  /// The app identifier is not right; no notification URL is set up.
  static let configuration: Set<Int64> = [4_000_002, 4_040_007]

  /// Nil for success, any 2xx.
  ///
  /// - Parameters:
  ///   - header: a header of the answer by its name.
  ///   - now: milliseconds since 1970.
  ///   - mayTryOther: the caller did not say which environment; this server is the first one asked.
  public static func error(
    status: Int, header: (String) -> String?, body: [UInt8], server: AppStoreServer, mayTryOther: Bool, now: Int64
  ) -> AppStoreServerAPIError? {
    guard !(200..<300).contains(status) else { return nil }
    // The body is read whatever its content type says; without one only the status is left.
    let object = try? JSONValue(parsing: body).objectValue
    let code = object?["errorCode"]?.int64Value
    let message = object?["errorMessage"]?.stringValue ?? "status \(status)"
    let kind = classify(status: status, errorCode: code, mayTryOther: mayTryOther && server == .production)
    return AppStoreServerAPIError(
      kind, status: status, errorCode: code, message: String(message.prefix(300)),
      retryAt: kind == .rate ? RetryAfterRule.retryAt(header: header("Retry-After"), now: now) : nil, server: server,
      details: code == nil ? object : nil)
  }

  /// What both servers' refusals come to where the sandbox was asked after production. That the sandbox knows no such purchase says
  /// nothing where production did not look for it.
  static func verdict(production: AppStoreServerAPIError, sandbox: AppStoreServerAPIError) -> AppStoreServerAPIError {
    production.classification == .credentials && sandbox.isUnknownPurchase ? production : sandbox
  }

  /// What is to be done after a status and Apple's number.
  public static func classify(status: Int, errorCode: Int64?, mayTryOther: Bool) -> AppStoreServerAPIError.Classification {
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
