import Cryptography
import WireJSON

/// Verifies postbacks with Apple's keys (Verifying an install-validation postback; Verifying a postback).
public struct PostbackVerifier: Sendable {
  private let keys: ApplePublicKeys
  private let developmentKeys: [ApplePublicKeys.Key]

  /// - Parameter acceptsDevelopmentSKAdNetwork: true if a SKAdNetwork postback, which names no key, may also be signed with a development
  ///   key. It is then always marked as development.
  public init(keys: ApplePublicKeys = .published, acceptsDevelopmentSKAdNetwork: Bool = false) {
    self.keys = keys
    developmentKeys =
      acceptsDevelopmentSKAdNetwork
      ? keys.kids.keys.sorted().filter { ApplePublicKeys.environment(ofKid: $0) == .development }.flatMap { keys.kids[$0] ?? [] }
      : []
  }

  // MARK: SKAdNetwork

  /// Verifies a body as it was received.
  ///
  /// - Parameter adNetworks: the expected ad networks; genuine postbacks of others are `wrong_ad_network`. Nil: any.
  public func verdict(onSKAdNetwork body: [UInt8], expecting adNetworks: Set<String>? = nil) -> SKAdNetworkVerdict {
    do throws(PostbackRejection) {
      return verdict(onSKAdNetwork: try PostbackBody.object(body), expecting: adNetworks)
    } catch {
      return rejected(error, nil)
    }
  }

  /// Verifies Apple's object.
  public func verdict(onSKAdNetwork object: JSONObject, expecting adNetworks: Set<String>? = nil) -> SKAdNetworkVerdict {
    do throws(PostbackRejection) {
      return verdict(on: try SKAdNetworkPostback(object), expecting: adNetworks)
    } catch {
      return rejected(error, object)
    }
  }

  /// Verifies several bodies as they were received. The verdicts are those of ``verdict(onSKAdNetwork:expecting:)``, in the order of the
  /// bodies, and take less time.
  public func verdicts(onSKAdNetwork bodies: [(body: [UInt8], adNetworks: Set<String>?)]) -> [SKAdNetworkVerdict] {
    // Nearly all postbacks are signed by the first of these keys.
    guard bodies.count > 1, let first = keys.p256.first?.key else {
      return bodies.map { verdict(onSKAdNetwork: $0.body, expecting: $0.adNetworks) }
    }
    var read: [SKAdNetworkPostback?] = []
    var rejections: [SKAdNetworkVerdict] = []
    var signatures: [(signature: ECDSASignature, message: [UInt8])] = []
    read.reserveCapacity(bodies.count)
    signatures.reserveCapacity(bodies.count)
    for one in bodies {
      var object: JSONObject?
      do throws(PostbackRejection) {
        let parsed = try PostbackBody.object(one.body)
        object = parsed
        let postback = try SKAdNetworkPostback(parsed)
        if postback.version.postbackCurve == .p256 { signatures.append((postback.signature, postback.signedString)) }
        read.append(postback)
      } catch {
        rejections.append(rejected(error, object))
        read.append(nil)
      }
    }
    var signedByFirst = first.verifies(signatures)[...]
    var nextRejection = rejections[...]
    return bodies.indices.map { place in
      guard let postback = read[place].take() else { return nextRejection.removeFirst() }
      let isSignedByFirst = postback.version.postbackCurve == .p256 ? signedByFirst.removeFirst() : nil
      return verdict(on: postback, expecting: bodies[place].adNetworks, isSignedByFirst: isSignedByFirst)
    }
  }

  /// - Parameter isSignedByFirst: whether the first key of its curve signed the postback; nil if that is not known.
  private func verdict(
    on postback: consuming SKAdNetworkPostback, expecting adNetworks: Set<String>?, isSignedByFirst: Bool? = nil
  ) -> SKAdNetworkVerdict {
    let curve = postback.version.postbackCurve
    let candidates = curve == .p192 ? keys.p192 : keys.p256
    let production: String?
    if isSignedByFirst == true {
      production = candidates.first?.id
    } else {
      production = Self.signer(of: postback, candidates.dropFirst(isSignedByFirst == nil ? 0 : 1))
    }
    guard let keyId = production ?? (curve == .p256 ? Self.signer(of: postback, developmentKeys[...]) : nil) else {
      return verdict(
        on: postback, PostbackRejection(.badSignature, "not signed by a key of Apple's"), environment: nil, keyId: nil)
    }
    var rejection: PostbackRejection?
    if let adNetworks, !adNetworks.contains(postback.adNetworkId) {
      rejection = PostbackRejection(.wrongAdNetwork, field: "ad-network-id", "is another ad network's")
    }
    return verdict(
      on: postback, rejection, environment: production == nil ? .development : .production, keyId: keyId)
  }

  /// The id of the first key that signed the postback.
  private static func signer(of postback: borrowing SKAdNetworkPostback, _ candidates: ArraySlice<ApplePublicKeys.Key>) -> String? {
    guard !candidates.isEmpty else { return nil }
    let message = postback.signedString
    let signature = postback.signature
    return candidates.first { $0.key.verifies(signature, of: message) }?.id
  }

  private func verdict(
    on postback: consuming SKAdNetworkPostback, _ rejection: PostbackRejection?, environment: PostbackEnvironment?, keyId: String?
  ) -> SKAdNetworkVerdict {
    let (version, transactionId) = (postback.version.rawValue, postback.transactionId)
    let naturalKey = rejection == nil ? postback.naturalKey : nil
    return SKAdNetworkVerdict(
      reason: rejection?.reason, field: rejection?.field, explanation: rejection?.explanation, version: version,
      environment: environment, keyId: keyId, transactionId: transactionId, postback: postback, naturalKey: naturalKey)
  }

  private func rejected(_ rejection: PostbackRejection, _ object: JSONObject?) -> SKAdNetworkVerdict {
    SKAdNetworkVerdict(
      reason: rejection.reason, field: rejection.field, explanation: rejection.explanation,
      version: object?["version"]?.stringValue, environment: nil, keyId: nil,
      transactionId: object?["transaction-id"]?.stringValue, postback: nil, naturalKey: nil)
  }

  // MARK: AdAttributionKit

  /// Verifies a body as it was received; `adNetworks` as above.
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
      // A test from a device's settings counts for the URL's ad network.
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
