/// The final outcome of the exchange of a token for Apple's record. ``AdServicesRetryRule`` decides it.
public enum AdServicesOutcome: String, Sendable, Hashable, CaseIterable {
  /// Apple attributed the installation to an ad.
  case attributed
  /// Apple found no ad in its attribution windows.
  case organic
  /// Apple returned the test record that development-signed builds get. It is never an attribution.
  case test
  /// Apple had no record for the token in all attempts that ``AdServicesRetryRule`` makes.
  case notFound = "not_found"
  /// Apple refused the token.
  case invalidToken = "invalid_token"
  /// The token's 24 hours passed without an answer, or Apple's server failed in all attempts that the configuration allows.
  case expired

  /// True if Apple returned a record, with or without an ad.
  public var isResolved: Bool {
    switch self {
    case .attributed, .organic, .test: true
    case .notFound, .invalidToken, .expired: false
    }
  }
}
