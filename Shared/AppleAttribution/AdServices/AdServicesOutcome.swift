/// The final outcome of a token's exchange.
public enum AdServicesOutcome: String, Sendable, Hashable, CaseIterable {
  /// Apple attributed the installation to an ad.
  case attributed
  /// No ad in the attribution windows.
  case organic
  /// The test record that development-signed builds get; never an attribution.
  case test
  /// Apple had no record for the token in all the attempts that its documentation asks for.
  case notFound = "not_found"
  /// Apple refused the token.
  case invalidToken = "invalid_token"
  /// The token's 24 hours passed before Apple answered, or its server failed in all attempts that the deployment allows.
  case expired

  /// True if Apple answered, with an ad or "no ad".
  public var isResolved: Bool {
    switch self {
    case .attributed, .organic, .test: true
    case .notFound, .invalidToken, .expired: false
    }
  }
}
