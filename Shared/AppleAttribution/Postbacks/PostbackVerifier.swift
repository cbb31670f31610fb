import Cryptography
import WireJSON

/// Verifies postbacks with Apple's keys (Verifying an install-validation postback; Verifying a postback).
public struct PostbackVerifier: Sendable {
  let keys: ApplePublicKeys
  let developmentKeys: [ApplePublicKeys.Key]

  /// - Parameter acceptsDevelopmentSKAdNetwork: true if a SKAdNetwork postback, which names no key, may also be signed with a development
  ///   key. It is then always marked as development.
  public init(keys: ApplePublicKeys = .published, acceptsDevelopmentSKAdNetwork: Bool = false) {
    self.keys = keys
    developmentKeys =
      acceptsDevelopmentSKAdNetwork
      ? keys.kids.keys.sorted().filter { ApplePublicKeys.environment(ofKid: $0) == .development }.flatMap { keys.kids[$0] ?? [] }
      : []
  }

  /// Verifies a body as it was received; `adNetworks` as in ``verdict(onSKAdNetwork:expecting:)``.
  public func verdict(onAdAttributionKit body: [UInt8], expecting adNetworks: Set<String>? = nil) -> AdAttributionKitVerdict {
    do throws(PostbackRejection) {
      return verdict(onAdAttributionKit: try PostbackBody.object(body), expecting: adNetworks)
    } catch {
      return AdAttributionKitVerdict(error)
    }
  }

  /// Verifies Apple's object, in an order in which nothing unverified decides anything: form, algorithm, key, form of the signature and the
  /// payload, the signature, and only then the claims.
  public func verdict(
    onAdAttributionKit body: JSONObject, expecting adNetworks: Set<String>? = nil
  ) -> AdAttributionKitVerdict {
    let field = "jws-string"
    var kid: String?
    var identifier: String?
    do throws(PostbackRejection) {
      let envelope = try ES256Envelope(try Self.jwsString(body, field), field: field)
      // The `kid` determines the key; others are never tried.
      guard let name = envelope.kid, let candidates = keys.kids[name], !candidates.isEmpty else {
        throw PostbackRejection(.unknownKey, field: field, "no such kid")
      }
      kid = name
      let signature = try envelope.signature(field: field)
      let payload = try envelope.payload(field: field)
      guard candidates.contains(where: { $0.key.verifies(signature, of: envelope.signingInput) }) else {
        throw PostbackRejection(.badSignature, field: field, "not signed by that key")
      }
      identifier = payload["postback-identifier"]?.stringValue
      let postback = try AdAttributionKitPostback(payload: payload, body: body)
      // A test that was made in a device's settings counts for the URL's ad network. Apple signs these with the kid
      // `apple-development-identifier/1`. Those of other development keys are accepted too, because no real ad network has that id.
      let isMadeInSettings =
        ApplePublicKeys.environment(ofKid: name) == .development && postback.adNetworkIdentifier == AdAttributionKitPostback.madeInSettings
      if let adNetworks, !isMadeInSettings, !adNetworks.contains(postback.adNetworkIdentifier) {
        throw PostbackRejection(.wrongAdNetwork, field: "ad-network-identifier", "is another ad network's")
      }
      return AdAttributionKitVerdict(nil, kid: kid, identifier: identifier, postback: postback)
    } catch {
      return AdAttributionKitVerdict(error, kid: kid, identifier: identifier)
    }
  }

  private static func jwsString(_ body: JSONObject, _ field: String) throws(PostbackRejection) -> String {
    switch body[field] {
    case nil, .null: throw PostbackFields.missing(field)
    case .string(let text): return text
    default: throw PostbackRejection(.malformed, field: field, "must be a string")
    }
  }
}

extension AdAttributionKitVerdict {
  fileprivate init(
    _ rejection: PostbackRejection?, kid: String? = nil, identifier: String? = nil, postback: AdAttributionKitPostback? = nil
  ) {
    // An error of the JWS as a whole is not about a claim; only `malformed` and `wrong_ad_network` name a field.
    let named = rejection.map { $0.reason == .malformed || $0.reason == .wrongAdNetwork } ?? false
    self.init(
      reason: rejection?.reason, field: named ? rejection?.field : nil, explanation: rejection?.explanation,
      environment: kid.map(ApplePublicKeys.environment(ofKid:)), keyId: kid, postbackIdentifier: identifier, postback: postback,
      naturalKey: rejection == nil ? postback?.naturalKey : nil)
  }
}
