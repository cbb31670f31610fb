import HTTPClient
import WireJSON

/// Turns responses of the App Store Server API into errors and classifies them (App Store Server API: error codes).
public enum AppStoreServerAPIErrorRule {
  /// The codes for which Apple asks for a retry: the account, app or original transaction was not found, which may change soon, or an
  /// unknown error.
  static let retryable: Set<Int64> = [4_040_002, 4_040_004, 4_040_006, 5_000_001]
  /// Too many requests of the app to the endpoint.
  static let rateLimited: Int64 = 4_290_000
  /// No such transaction in this environment.
  public static let transactionNotFound: Int64 = 4_040_010
  /// No such original transaction in this environment: the error of endpoints that accept only original transaction ids.
  static let originalTransactionNotFound: Int64 = 4_040_005
  /// No extension of renewal dates for all active subscribers has that request identifier.
  public static let extensionRequestNotFound: Int64 = 4_040_009
  /// All codes for an unknown purchase: no such account, original transaction or transaction.
  static let unknownPurchase: Set<Int64> = [4_040_001, originalTransactionNotFound, transactionNotFound]
  /// The `requestReferenceId` of the Advanced Commerce request was used before.
  public static let repeatedRequestReference: Int64 = 4_000_097
  /// The codes of a wrong setup: a wrong app identifier, or no notification URL at Apple.
  static let configuration: Set<Int64> = [4_000_002, 4_040_007]

  /// The error of a response; nil for a success, which is any 2xx status.
  ///
  /// - Parameters:
  ///   - header: returns a header of the response by name.
  ///   - now: milliseconds since 1970.
  ///   - mayTryOther: true if the caller did not name the environment and this is the response of the first server.
  ///   - clockDifference: by how many seconds our clock is ahead of Apple's; nil if that is not known.
  public static func error(
    status: Int, header: (String) -> String?, body: [UInt8], server: AppStoreServer, mayTryOther: Bool, now: Int64,
    clockDifference: Int64? = nil
  ) -> AppStoreServerAPIError? {
    guard !(200..<300).contains(status) else { return nil }
    // The body is parsed whatever its content type is. If it is not JSON, the status alone decides.
    let object = try? JSONValue(parsing: body).objectValue
    let code = object?["errorCode"]?.int64Value
    var message = String((object?["errorMessage"]?.stringValue ?? "status \(status)").prefix(300))
    let classification = classify(status: status, errorCode: code, mayTryOther: mayTryOther && server == .production)
    var difference: Int64?
    if classification == .credentials, let clockDifference, abs(clockDifference) > HTTPClientResponse.clockTolerance {
      difference = clockDifference
      message += "; \(clockSentence(clockDifference))"
    }
    return AppStoreServerAPIError(
      classification, status: status, errorCode: code, message: message,
      retryAt: classification == .rate ? RetryAfterRule.retryAt(header: header("Retry-After"), now: now) : nil, server: server,
      details: code == nil ? object : nil, clockDifference: difference)
  }

  /// Describes a difference of clocks, which may be why Apple refused a token. `difference`: the seconds by which our clock is ahead.
  static func clockSentence(_ difference: Int64) -> String {
    "our clock is \(abs(difference)) s \(difference > 0 ? "ahead of" : "behind") Apple's, which refuses tokens from the future and expired ones"
  }

  /// The error to report if both production and then the sandbox failed. That is the sandbox's error, except if production refused the
  /// credentials and the sandbox does not know the purchase: production has not searched for the purchase then, so it may exist there.
  static func verdict(production: AppStoreServerAPIError, sandbox: AppStoreServerAPIError) -> AppStoreServerAPIError {
    production.classification == .credentials && sandbox.isUnknownPurchase ? production : sandbox
  }

  /// True if an error shows that Apple accepted the bearer token, false if it shows that Apple refused it. Nil if it shows neither: for
  /// rate limits, failures of the server, and responses that may be those of a proxy between us and Apple.
  static func isTokenAccepted(_ error: AppStoreServerAPIError) -> Bool? {
    guard let status = error.status else { return nil }
    if status == 401 { return false }
    return error.errorCode != nil && status != 429 && status < 500 ? true : nil
  }

  /// The error to report if production refused a key that the sandbox accepts. `refusal`: production's error.
  static func notReleased(_ refusal: AppStoreServerAPIError) -> AppStoreServerAPIError {
    AppStoreServerAPIError(
      .configuration, status: refusal.status,
      message: "production refuses the app, but the sandbox accepts its key, so the key is right: the app was probably never released",
      server: .production, clockDifference: refusal.clockDifference)
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
