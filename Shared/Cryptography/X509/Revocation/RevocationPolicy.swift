/// The rule for accepting a chain, depending on what is known about the revocation of its certificates.
public enum RevocationPolicy: String, Sendable, Hashable, CaseIterable {
  /// No responder is asked.
  case off
  /// Responders are asked. Without a verified answer, a chain is accepted and marked as unconfirmed. A verified answer counts.
  case whenReachable
  /// Responders are asked. A chain is accepted only with a verified `good` for both certificates.
  case required

  /// Decides about a chain from the revocation of its two certificates.
  ///
  /// | policy        | a revoked one      | a verified "unknown"  | no verified answer     | both good |
  /// | ------------- | ------------------ | ------------------- | -------------------- | --------- |
  /// | off           | accepted           | accepted            | accepted             | accepted  |
  /// | whenReachable | certificateRevoked | revocationUnknown   | acceptedUnconfirmed  | accepted  |
  /// | required      | certificateRevoked | revocationUnknown   | revocationUnknown    | accepted  |
  ///
  /// The columns take precedence from left to right: one revoked certificate decides, whatever the other one is. A forged or damaged answer
  /// counts as no answer, because an attacker who can replace a genuine answer can also suppress it.
  public func decision(leaf: CertificateRevocation, intermediate: CertificateRevocation) -> RevocationDecision {
    guard self != .off else { return .accepted }
    let both = [leaf, intermediate]
    if both.contains(where: \.isRevoked) { return .certificateRevoked }
    if both.contains(.answered(.unknown)) { return .revocationUnknown }
    if both.allSatisfy({ $0 == .answered(.good) }) { return .accepted }
    return self == .required ? .revocationUnknown : .acceptedUnconfirmed
  }
}

/// The decision about a chain.
public enum RevocationDecision: String, Sendable, Hashable {
  case accepted
  /// Accepted without an answer; such chains are counted.
  case acceptedUnconfirmed
  /// Refused, because Apple has revoked a certificate.
  case certificateRevoked = "certificate_revoked"
  /// Refused for now. It should be tried again, because it does not mean forgery.
  case revocationUnknown = "revocation_unknown"
}

/// The revocation of one certificate, as far as it is known.
public enum CertificateRevocation: Sendable, Hashable {
  /// No responder was asked, because of the policy.
  case notAsked
  case answered(CertificateStatus)
  /// There is no verified answer; with the reason.
  case unanswered(RevocationGap)

  var isRevoked: Bool {
    guard case .answered(.revoked) = self else { return false }
    return true
  }
}

/// Why there is no verified answer about a certificate.
public enum RevocationGap: Error, Sendable, Hashable {
  case request(OCSPRequest.Failure)
  case fetch(OCSPFetchFailure)
  case refused(OCSPRefusal)
}

/// The revocation of a chain's certificates, and the decision.
public struct ChainRevocation: Sendable, Hashable {
  public let decision: RevocationDecision
  public let leaf: CertificateRevocation
  public let intermediate: CertificateRevocation

  init(_ policy: RevocationPolicy, leaf: CertificateRevocation, intermediate: CertificateRevocation) {
    decision = policy.decision(leaf: leaf, intermediate: intermediate)
    self.leaf = leaf
    self.intermediate = intermediate
  }
}
