/// Why signed data is rejected, by the names of the contract.
public enum SignedDataReason: String, Sendable, Hashable, CaseIterable {
  case malformed
  case malformedSignature = "malformed_signature"
  case malformedJWS = "malformed_jws"
  case unexpectedAlgorithm = "unexpected_algorithm"
  case chainLength = "chain_length"
  case malformedCertificate = "malformed_certificate"
  case chainInvalid = "chain_invalid"
  case certificateRevoked = "certificate_revoked"
  /// The revocation is unknown for now, which does not mean forgery; it should be verified again later.
  case revocationUnknown = "revocation_unknown"
  case badSignature = "bad_signature"
  case wrongApp = "wrong_app"
  case wrongEnvironment = "wrong_environment"
}
