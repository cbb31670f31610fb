/// Why a postback or an impression is rejected: the contract's reasons for ad attribution.
public enum PostbackReason: String, Sendable, Hashable, CaseIterable {
  /// The body is not a JSON object (``PostbackBody``), or a field, even the signature, is missing, of a wrong kind or out of range, or
  /// contradicts another one (``PostbackFields``, ``SKAdNetworkPostback``, ``PostbackVerifier``, ``ImpressionVerifier``).
  case malformed
  /// The signature cannot be read as one ECDSA signature: DER in Base64 for SKAdNetwork (``SKAdNetworkPostback``, ``ImpressionVerifier``),
  /// raw in a JWS (``ES256Envelope``).
  case malformedSignature = "malformed_signature"
  /// Not a compact JWS of JSON objects.
  case malformedJWS = "malformed_jws"
  /// `alg` is not ES256.
  case unexpectedAlgorithm = "unexpected_algorithm"
  /// No such `kid`, or no key of that ad network.
  case unknownKey = "unknown_key"
  /// A version that Apple has not defined.
  case unsupportedVersion = "unsupported_version"
  /// The signature is well-formed, but not made by that key.
  case badSignature = "bad_signature"
  /// The postback is genuine, but of another ad network than expected.
  case wrongAdNetwork = "wrong_ad_network"
}
