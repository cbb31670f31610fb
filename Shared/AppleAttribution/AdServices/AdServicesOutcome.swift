/// How the exchange of one token ended, once and for all.
public enum AdServicesOutcome: String, Sendable, Hashable, CaseIterable {
  /// Apple named the ad.
  case attributed
  /// No ad in the attribution windows.
  case organic
  /// The made-up record that development-signed builds get; never an attribution.
  case test
  /// Apple had no record for the token in any of the tries that its documents ask for.
  case notFound = "not_found"
  /// Apple refused the token.
  case invalidToken = "invalid_token"
  /// The token's 24 hours ran out before Apple answered.
  case expired

  /// Whether Apple answered the question (also with "no ad"), as against there being no answer.
  public var isResolved: Bool {
    switch self {
    case .attributed, .organic, .test: true
    case .notFound, .invalidToken, .expired: false
    }
  }
}
