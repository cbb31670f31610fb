/// The status of a certificate by its responder (RFC 6960, 2.2).
public enum CertificateStatus: Sendable, Hashable {
  case good
  /// Revoked at that time, in seconds since 1970; `reason` is the code of RFC 5280, 5.3.1, if given.
  case revoked(at: Int64, reason: Int?)
  /// The responder, which may answer for the issuer, does not know the certificate.
  case unknown

  /// The code of a revocation that can be undone.
  private static let onHold = 6

  /// True if no later answer can change it.
  var isFinal: Bool {
    guard case .revoked(_, let reason) = self else { return false }
    return reason != Self.onHold
  }

  /// The worse of two answers about one certificate.
  func worse(_ other: CertificateStatus) -> CertificateStatus { other.rank > rank ? other : self }

  private var rank: Int {
    switch self {
    case .good: 0
    case .unknown: 1
    case .revoked: 2
    }
  }
}
