import Cryptography
import WireJSON

/// Verifies impressions with the public keys of the ad networks, as a device does.
///
/// A SKAdNetwork impression is given as its values and the signature (``SKAdNetworkImpression`` has the rules for the values), an
/// AdAttributionKit impression as its JWS.
public struct ImpressionVerifier: Sendable {
  /// A public key of an ad network.
  public struct Key: Sendable {
    public let id: String
    public let key: PublicKey

    public init(id: String, key: PublicKey) {
      self.id = id
      self.key = key
    }
  }

  /// The verdict on an impression.
  public struct Verdict: Sendable, Hashable {
    public var valid: Bool { reason == nil }
    /// Nil if valid.
    public let reason: PostbackReason?
    /// The field's name in the request for SKAdNetwork, the claim's name for AdAttributionKit; nil if the reason is not about a field.
    public let field: String?
    /// The reason as text, for people.
    public let explanation: String?
    /// The key that signed the impression; nil if no known key did.
    public let keyId: String?
    /// The payload of the JWS; nil for SKAdNetwork, and until the signature is verified.
    public let payload: JSONObject?
  }

  private let keys: [String: [Key]]

  /// - Parameter keys: the public keys by ad network id.
  public init(keys: [String: [Key]]) { self.keys = keys }

  /// Verifies a SKAdNetwork impression with all values that a device gets: nonce and timestamp are required here. The signature is DER in
  /// standard Base64.
  public func verdict(onSKAdNetwork parameters: SKAdNetworkImpression.Parameters, signature: String?) -> Verdict {
    do throws(PostbackRejection) {
      if let version = parameters.version, SKAdNetworkVersion(rawValue: version) == nil {
        throw PostbackRejection(.unsupportedVersion, field: "version", "is not a version of SKAdNetwork")
      }
      for (field, isPresent) in [("nonce", parameters.nonce != nil), ("timestamp", parameters.timestamp != nil)] where !isPresent {
        throw PostbackRejection(.malformed, field: field, "is required")
      }
      guard let signature else { throw PostbackRejection(.malformed, field: "signature", "is required") }
      let impression: SKAdNetworkImpression
      do throws(FieldError) {
        // Any time is accepted. Of the site's name only the format is checked, because the signer may have used another public suffix list.
        impression = try SKAdNetworkImpression(validating: parameters, now: 0, allowsAnyTime: true, domains: .form)
      } catch {
        throw PostbackRejection(.malformed, field: error.field, error.reason)
      }
      guard let der = Base64.decode(signature), let parsed = try? ECDSASignature(der: der, curve: .p256) else {
        throw PostbackRejection(.malformedSignature, field: "signature", "must be exactly one DER signature in Base64")
      }
      let id = try signer(of: impression.signedString, parsed, adNetworkId: impression.adNetworkId)
      return Verdict(reason: nil, field: nil, explanation: nil, keyId: id, payload: nil)
    } catch {
      return Verdict(reason: error.reason, field: error.field, explanation: error.explanation, keyId: nil, payload: nil)
    }
  }

  /// Verifies an AdAttributionKit impression, a compact JWS whose `kid` is the ad network's id.
  public func verdict(onAdAttributionKit jws: String) -> Verdict {
    var verified: (id: String, payload: JSONObject)?
    do throws(PostbackRejection) {
      let envelope = try ES256Envelope(jws, field: "jws")
      // Apple defines no other members for the header of an impression, and does not say whether a device ignores them.
      guard envelope.header.members.allSatisfy({ $0.key == "alg" || $0.key == "kid" }) else {
        throw PostbackRejection(.malformedJWS, "the header has members other than alg and kid")
      }
      guard let adNetworkId = envelope.kid else { throw PostbackRejection(.unknownKey, "the header has no kid") }
      guard keys[adNetworkId] != nil else { throw PostbackRejection(.unknownKey, "the ad network is unknown") }
      let signature = try envelope.signature(field: "jws")
      let payload = try envelope.payload(field: "jws")
      verified = (try signer(of: envelope.signingInput, signature, adNetworkId: adNetworkId), payload)
      try Self.check(payload, adNetworkId: adNetworkId)
      return Verdict(reason: nil, field: nil, explanation: nil, keyId: verified?.id, payload: payload)
    } catch {
      return Verdict(
        reason: error.reason, field: error.field == "jws" ? nil : error.field, explanation: error.explanation,
        keyId: verified?.id, payload: verified?.payload)
    }
  }

  /// The id of the ad network's key that made the signature. Throws `unknown_key` or `bad_signature`.
  private func signer(
    of message: [UInt8], _ signature: ECDSASignature, adNetworkId: String
  ) throws(PostbackRejection) -> String {
    guard let candidates = keys[adNetworkId], !candidates.isEmpty else {
      throw PostbackRejection(.unknownKey, "no key of this ad network is known")
    }
    guard let key = candidates.first(where: { $0.key.verifies(signature, of: message) }) else {
      throw PostbackRejection(.badSignature, "the signature was not made by a known key of this ad network")
    }
    return key.id
  }

  /// Throws `malformed` for claims that a device would refuse. Numbers must be JSON numbers here. The ranges are those of signing
  /// (``AdAttributionKitImpression``).
  private static func check(_ payload: JSONObject, adNetworkId: String) throws(PostbackRejection) {
    func integer(_ name: String, _ range: ClosedRange<Int64>) throws(PostbackRejection) {
      guard let value = payload[name], !value.isNull else { throw PostbackFields.missing(name) }
      guard case .number(let number) = value, PostbackFields.isDigits(number.text), let whole = Int64(number.text), range.contains(whole)
      else {
        throw PostbackRejection(.malformed, field: name, "must be a whole number in its range")
      }
    }
    let fields = PostbackFields(payload)
    guard UUIDText.isValid(try fields.string("impression-identifier")) else {
      throw PostbackRejection(.malformed, field: "impression-identifier", "must be a UUID")
    }
    try integer("publisher-item-identifier", 0...Int64.max)
    guard try fields.string("impression-type") == AdAttributionKitImpression.appImpression else {
      throw PostbackRejection(.malformed, field: "impression-type", "must be \(AdAttributionKitImpression.appImpression)")
    }
    guard try fields.string("ad-network-identifier") == adNetworkId else {
      throw PostbackRejection(.malformed, field: "ad-network-identifier", "must equal the kid")
    }
    try integer("source-identifier", 0...9999)
    try integer("timestamp", 1...Int64.max)
    try integer("advertised-item-identifier", 1...Int64.max)
    if let value = payload["eligible-for-re-engagement"], value.boolValue == nil {
      throw PostbackRejection(.malformed, field: "eligible-for-re-engagement", "must be true or false")
    }
  }
}
