/// What a JWS of the App Store holds.
public enum SignedDataKind: String, Sendable, Hashable, CaseIterable {
  case notification, transaction, renewalInfo, appTransaction, realtimeRequest
}

/// Why signed data is not believed; the names of the contract.
public enum SignedDataReason: String, Sendable, Hashable, CaseIterable {
  case malformed
  case malformedSignature = "malformed_signature"
  case malformedJWS = "malformed_jws"
  case unexpectedAlgorithm = "unexpected_algorithm"
  case chainLength = "chain_length"
  case malformedCertificate = "malformed_certificate"
  case chainInvalid = "chain_invalid"
  case certificateRevoked = "certificate_revoked"
  /// Not known now: no proof of forgery, to be asked again.
  case revocationUnknown = "revocation_unknown"
  case badSignature = "bad_signature"
  case wrongApp = "wrong_app"
  case wrongEnvironment = "wrong_environment"
}
