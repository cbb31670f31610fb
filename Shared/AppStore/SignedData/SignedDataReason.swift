/// Why signed data is rejected. The raw values are those of the contract.
public enum SignedDataReason: String, Sendable, Hashable, CaseIterable {
  /// It is no data of its kind: every member is missing by which that kind is told from others. Data of the kind never has this reason, even
  /// if members are missing or new.
  case malformed
  /// The signature is not one raw ECDSA signature.
  case malformedSignature = "malformed_signature"
  /// Not a compact JWS of JSON objects, or one with a critical header parameter or without certificates.
  case malformedJWS = "malformed_jws"
  /// `alg` is not ES256.
  case unexpectedAlgorithm = "unexpected_algorithm"
  /// `x5c` does not have three certificates.
  case chainLength = "chain_length"
  /// An entry of `x5c` is not a certificate.
  case malformedCertificate = "malformed_certificate"
  /// The certificates do not lead to a pinned root, are not valid at the time of signing, or that time is in the future.
  case chainInvalid = "chain_invalid"
  case certificateRevoked = "certificate_revoked"
  /// It is not known at the moment whether a certificate was revoked. The data is not necessarily forged and should be verified again
  /// later.
  case revocationUnknown = "revocation_unknown"
  /// The signature is well-formed, but was not made by the leaf certificate's key.
  case badSignature = "bad_signature"
  /// The data is genuine, but of an app that is not expected or not configured.
  case wrongApp = "wrong_app"
  /// The data is genuine, but names no app, and the caller does not know from its source which app it is about
  /// (``SignedDataExpectation/trustedSource``).
  case appNotNamed = "app_not_named"
  /// The data is genuine, but of an environment that is not expected or not configured for the app.
  case wrongEnvironment = "wrong_environment"
}
