import Cryptography
import WireJSON

/// Verifies postbacks with Apple's keys (Verifying an install-validation postback; Verifying a postback).
///
/// ```swift
/// let verdict = PostbackVerifier().verdict(onSKAdNetwork: body, expecting: ["example123.skadnetwork"])
/// if verdict.valid, let postback = verdict.postback { count(postback.appId, postback.unsigned.conversionValue) }
/// ```
///
/// This file has AdAttributionKit, `PostbackVerifier+SKAdNetwork.swift` SKAdNetwork. The values are read by ``AdAttributionKitPostback``
/// and ``SKAdNetworkPostback``. The conversion values of a valid postback are not signed, so the caller must expect wrong ones.
public struct PostbackVerifier: Sendable {
  let keys: ApplePublicKeys
  /// The development keys that are tried for SKAdNetwork postbacks; empty if they are not accepted.
  let developmentKeys: [ApplePublicKeys.Key]

  /// - Parameter acceptsDevelopmentSKAdNetwork: true if a SKAdNetwork postback, which does not name its key, may also be signed with a
  ///   development key of AdAttributionKit. Its environment is then `development`.
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

  /// Verifies a parsed body. The checks are in this order: the format of the JWS, the algorithm, the key, the formats of the signature and
  /// the payload, the signature, the claims. So no claim has an effect before it is verified.
  public func verdict(
    onAdAttributionKit body: JSONObject, expecting adNetworks: Set<String>? = nil
  ) -> AdAttributionKitVerdict {
    let field = "jws-string"
    var kid: String?
    var identifier: String?
    do throws(PostbackRejection) {
      let envelope = try ES256Envelope(try Self.jwsString(body, field), field: field)
      // The `kid` names the key. Other keys are never tried.
      guard let name = envelope.kid, let candidates = keys.kids[name], !candidates.isEmpty else {
        throw PostbackRejection(.unknownKey, field: field, "the kid is unknown")
      }
      kid = name
      let signature = try envelope.signature(field: field)
      let payload = try envelope.payload(field: field)
      guard candidates.contains(where: { $0.key.verifies(signature, of: envelope.signingInput) }) else {
        throw PostbackRejection(.badSignature, field: field, "the signature was not made by the key of the kid")
      }
      identifier = payload["postback-identifier"]?.stringValue
      let postback = try AdAttributionKitPostback(payload: payload, body: body)
      // A test postback that was made in the settings of a device is accepted for any expected ad network. Apple signs these postbacks with
      // the key `apple-development-identifier/1`. Other development keys are accepted too, because no ad network has this id.
      let isMadeInSettings =
        ApplePublicKeys.environment(ofKid: name) == .development
        && postback.adNetworkIdentifier.asciiLowercased == AdAttributionKitPostback.settingsAdNetworkId
      if let adNetworks, !isMadeInSettings, !Self.contains(adNetworks, postback.adNetworkIdentifier) {
        throw PostbackRejection(.wrongAdNetwork, field: "ad-network-identifier", "is another ad network's")
      }
      return AdAttributionKitVerdict(nil, kid: kid, identifier: identifier, postback: postback)
    } catch {
      return AdAttributionKitVerdict(error, kid: kid, identifier: identifier)
    }
  }

  /// True if one of the expected ad networks has this name. Names are compared without regard to case; the signature covers the name as it
  /// is written.
  static func contains(_ adNetworks: Set<String>, _ name: String) -> Bool {
    adNetworks.contains { $0.asciiLowercased.isExactly(name.asciiLowercased) }
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
    // Only `malformed` and `wrong_ad_network` are about a field. The other reasons are about the JWS as a whole.
    let named = rejection.map { $0.reason == .malformed || $0.reason == .wrongAdNetwork } ?? false
    self.init(
      reason: rejection?.reason, field: named ? rejection?.field : nil, explanation: rejection?.explanation,
      environment: kid.map(ApplePublicKeys.environment(ofKid:)), keyId: kid, postbackIdentifier: identifier, postback: postback,
      naturalKey: rejection == nil ? postback?.naturalKey : nil)
  }
}
