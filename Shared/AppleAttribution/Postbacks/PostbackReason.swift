/// Why a postback or an impression is rejected: the contract's reasons for ad attribution.
public enum PostbackReason: String, Sendable, Hashable, CaseIterable {
  /// A field is missing, of a wrong kind or out of range.
  case malformed
  /// The signature is not one signature of the right form.
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
