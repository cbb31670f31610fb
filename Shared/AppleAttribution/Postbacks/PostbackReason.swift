/// Why a postback or an impression is rejected. The raw values are those of the contract.
public enum PostbackReason: String, Sendable, Hashable, CaseIterable {
  /// The body is not a JSON object (``PostbackBody``). Or a field, such as the signature, is missing, has a wrong type, is out of range or
  /// contradicts another field (``PostbackFields``, ``SKAdNetworkPostback``, ``PostbackVerifier``, ``ImpressionVerifier``).
  case malformed
  /// The signature is not exactly one ECDSA signature: DER in Base64 for SKAdNetwork (``SKAdNetworkPostback``, ``ImpressionVerifier``), raw
  /// in a JWS (``ES256Envelope``).
  case malformedSignature = "malformed_signature"
  /// The text is not a compact JWS whose header and payload are JSON objects, or its header has parameters that are not allowed.
  case malformedJWS = "malformed_jws"
  /// `alg` in the JWS header is not ES256.
  case unexpectedAlgorithm = "unexpected_algorithm"
  /// No key is known for the `kid`, or for the ad network.
  case unknownKey = "unknown_key"
  /// Apple has not defined that version of SKAdNetwork.
  case unsupportedVersion = "unsupported_version"
  /// The signature is well-formed, but was not made by a key that may have signed the postback or impression.
  case badSignature = "bad_signature"
  /// The postback is genuine, but is for another ad network than the expected one.
  case wrongAdNetwork = "wrong_ad_network"
}
