/// The rule by which a chain is accepted, depending on what is known about the revocation of its certificates.
public enum RevocationPolicy: String, Sendable, Hashable, CaseIterable {
  /// No responder is asked.
  case off
  /// Responders are asked. Without a verified response, a chain is accepted and counted as unconfirmed. A verified response decides.
  case whenReachable
  /// Responders are asked. A chain is accepted only with a verified `good` for both certificates.
  case required

  /// Decides about a chain from the revocation of its two certificates.
  ///
  /// | policy        | one is revoked     | one is `unknown`  | one has no verified response | both are good |
  /// | ------------- | ------------------ | ----------------- | ---------------------------- | ------------- |
  /// | off           | accepted           | accepted          | accepted                     | accepted      |
  /// | whenReachable | certificateRevoked | revocationUnknown | acceptedUnconfirmed          | accepted      |
  /// | required      | certificateRevoked | revocationUnknown | revocationUnknown            | accepted      |
  ///
  /// The leftmost column that applies decides: one revoked certificate is enough, whatever the status of the other one. A forged or damaged
  /// response counts as none, because an attacker who can replace a genuine response can also suppress it.
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
  /// Accepted without a verified response about both certificates.
  case acceptedUnconfirmed
  /// Refused, because a certificate is revoked.
  case certificateRevoked = "certificate_revoked"
  /// Refused for now. The caller should try again later, because this does not mean forgery.
  case revocationUnknown = "revocation_unknown"
}

/// The revocation of one certificate, as far as it is known.
public enum CertificateRevocation: Sendable, Hashable {
  /// No responder was asked, because the policy is `off`.
  case notAsked
  /// A verified response gives this status.
  case answered(CertificateStatus)
  /// There is no verified response; with the reason.
  case unanswered(RevocationGap)

  var isRevoked: Bool {
    guard case .answered(.revoked) = self else { return false }
    return true
  }
}

/// Why there is no verified response about a certificate.
public enum RevocationGap: Error, Sendable, Hashable {
  /// The request could not be made.
  case request(OCSPRequest.Failure)
  /// The responder sent no usable HTTP response.
  case fetch(OCSPFetchFailure)
  /// The OCSP response was rejected.
  case refused(OCSPRefusal)
}

/// The revocation of a chain's two certificates below the root, and the policy's decision about the chain.
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
