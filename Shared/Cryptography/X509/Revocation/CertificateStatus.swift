/// The status of a certificate according to its OCSP responder (RFC 6960, 2.2).
public enum CertificateStatus: Sendable, Hashable {
  case good
  /// Revoked at that time, in seconds since 1970. `reason` is the code of RFC 5280, 5.3.1; nil if the responder gives none.
  case revoked(at: Int64, reason: Int?)
  /// The responder is authorised by the issuer, but does not know the certificate.
  case unknown

  /// The reason code `certificateHold`: this revocation can be undone.
  private static let onHold = 6

  /// True if no later response can change the status.
  var isFinal: Bool {
    guard case .revoked(_, let reason) = self else { return false }
    return reason != Self.onHold
  }

  /// The worse of two statuses of one certificate.
  func worse(_ other: CertificateStatus) -> CertificateStatus { other.rank > rank ? other : self }

  private var rank: Int {
    switch self {
    case .good: 0
    case .unknown: 1
    case .revoked: 2
    }
  }
}
