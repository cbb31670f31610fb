/// Why a postback or an impression is not what it claims to be: the closed set of the contract, as far as ad attribution uses it.
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
  /// In form, and not signed by that key.
  case badSignature = "bad_signature"
  /// Genuine, and of another ad network than the ones asked for.
  case wrongAdNetwork = "wrong_ad_network"
}

/// A postback that is refused, and why.
public struct PostbackRejection: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: PostbackReason
  /// The field, under Apple's name, when the reason lies in one.
  public let field: String?
  /// What is wrong with it; never the value.
  public let explanation: String

  public init(_ reason: PostbackReason, field: String? = nil, _ explanation: String) {
    self.reason = reason
    self.field = field
    self.explanation = explanation
  }

  public var description: String { field.map { "\(reason.rawValue) (\($0)): \(explanation)" } ?? "\(reason.rawValue): \(explanation)" }
}

/// Whether real users or a test made a postback.
public enum PostbackEnvironment: String, Sendable, Hashable {
  case production
  /// Any phone in Developer Mode can make one that names any app: never to be counted with the real ones.
  case development
}
