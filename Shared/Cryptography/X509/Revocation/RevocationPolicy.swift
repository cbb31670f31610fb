/// What a chain is worth when its certificates' revocation is, or is not, known.
public enum RevocationPolicy: String, Sendable, Hashable, CaseIterable {
  /// Nobody is asked.
  case off
  /// Responders are asked. Without a verified answer a chain is accepted, and marked so; an answer of a responder counts.
  case whenReachable
  /// Responders are asked. A chain is accepted only with a verified `good` for both certificates.
  case required

  /// What follows from what is known of the two certificates.
  ///
  /// | policy        | a revoked one      | a verified "unknown"  | no verified answer     | both good |
  /// | ------------- | ------------------ | ------------------- | -------------------- | --------- |
  /// | off           | accepted           | accepted            | accepted             | accepted  |
  /// | whenReachable | certificateRevoked | revocationUnknown   | acceptedUnconfirmed  | accepted  |
  /// | required      | certificateRevoked | revocationUnknown   | revocationUnknown    | accepted  |
  ///
  /// The columns count from the left: one revoked certificate decides, whatever the other is. A forged or damaged answer is no answer: who can
  /// put one in place of the genuine one could as well let none through.
  public func decision(leaf: CertificateRevocation, intermediate: CertificateRevocation) -> RevocationDecision {
    guard self != .off else { return .accepted }
    let both = [leaf, intermediate]
    if both.contains(where: \.isRevoked) { return .certificateRevoked }
    if both.contains(.answered(.unknown)) { return .revocationUnknown }
    if both.allSatisfy({ $0 == .answered(.good) }) { return .accepted }
    return self == .required ? .revocationUnknown : .acceptedUnconfirmed
  }
}

/// What a policy makes of a chain.
public enum RevocationDecision: String, Sendable, Hashable {
  case accepted
  /// Accepted although nobody could be asked: to be counted.
  case acceptedUnconfirmed
  /// Refused: Apple has withdrawn a certificate.
  case certificateRevoked = "certificate_revoked"
  /// Refused for now. It should be tried again, because it does not mean forgery.
  case revocationUnknown = "revocation_unknown"

  public var isAccepted: Bool { self == .accepted || self == .acceptedUnconfirmed }
}

/// What is known of one certificate's revocation.
public enum CertificateRevocation: Sendable, Hashable {
  /// The policy asks nobody.
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

/// What is known of a chain's revocation, and what follows.
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
