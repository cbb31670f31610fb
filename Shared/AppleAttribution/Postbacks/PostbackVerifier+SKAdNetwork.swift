import Cryptography
import WireJSON

/// Verifies SKAdNetwork postbacks (Verifying an install-validation postback).
///
/// Apple signs the values of a postback, joined with U+2063 in the order of its version (``SKAdNetworkPostback/signedString``). For 4.0
/// these are version, ad network, source identifier, app, transaction, redownload, source app or domain, fidelity type, did-win and
/// sequence index.
///
/// A postback does not name its key. Up to version 2.0 it is one of Apple's P-192 keys, from 2.1 on one of its P-256 keys
/// (``ApplePublicKeys``). If none of the P-256 keys signed the postback, the development keys are tried, provided that the configuration
/// accepts them. The environment is then `development`.
extension PostbackVerifier {
  /// Verifies a body as it was received.
  ///
  /// - Parameter adNetworks: the expected ad networks, in any case. A genuine postback for another one is rejected with `wrong_ad_network`.
  ///   Nil accepts any.
  public func verdict(onSKAdNetwork body: [UInt8], expecting adNetworks: Set<String>? = nil) -> SKAdNetworkVerdict {
    do throws(PostbackRejection) {
      return verdict(onSKAdNetwork: try PostbackBody.object(body), expecting: adNetworks)
    } catch {
      return SKAdNetworkVerdict(rejected: error, nil)
    }
  }

  /// Verifies a parsed body; `adNetworks` as in ``verdict(onSKAdNetwork:expecting:)``.
  public func verdict(onSKAdNetwork object: JSONObject, expecting adNetworks: Set<String>? = nil) -> SKAdNetworkVerdict {
    do throws(PostbackRejection) {
      return verify(try SKAdNetworkPostback(object), expecting: adNetworks)
    } catch {
      return SKAdNetworkVerdict(rejected: error, object)
    }
  }

  /// Verifies several bodies as they were received. The verdicts are the same as those of ``verdict(onSKAdNetwork:expecting:)``, in the
  /// order of the bodies, but take less time, because signatures of one key are verified together.
  public func verdicts(onSKAdNetwork bodies: [(body: [UInt8], adNetworks: Set<String>?)]) -> [SKAdNetworkVerdict] {
    // Nearly all postbacks are signed with the first of these keys.
    guard bodies.count > 1, let first = keys.p256.first?.key else {
      return bodies.map { verdict(onSKAdNetwork: $0.body, expecting: $0.adNetworks) }
    }
    // Nil for a rejected body.
    var postbacks: [SKAdNetworkPostback?] = []
    var rejections: [SKAdNetworkVerdict] = []
    var signatures: [(signature: ECDSASignature, message: [UInt8])] = []
    postbacks.reserveCapacity(bodies.count)
    signatures.reserveCapacity(bodies.count)
    for one in bodies {
      var object: JSONObject?
      do throws(PostbackRejection) {
        let parsed = try PostbackBody.object(one.body)
        object = parsed
        let postback = try SKAdNetworkPostback(parsed)
        if postback.version.postbackCurve == .p256 { signatures.append((postback.signature, postback.signedString)) }
        postbacks.append(postback)
      } catch {
        rejections.append(SKAdNetworkVerdict(rejected: error, object))
        postbacks.append(nil)
      }
    }
    var signedByFirst = first.verifies(signatures)[...]
    var nextRejection = rejections[...]
    return bodies.indices.map { index in
      guard let postback = postbacks[index].take() else { return nextRejection.removeFirst() }
      let isSignedByFirst = postback.version.postbackCurve == .p256 ? signedByFirst.removeFirst() : nil
      return verify(postback, expecting: bodies[index].adNetworks, isSignedByFirst: isSignedByFirst)
    }
  }

  /// The verdict on a postback whose fields are valid.
  ///
  /// - Parameter isSignedByFirst: true if the first key of the version's curve signed the postback; nil if that was not verified yet.
  private func verify(
    _ postback: consuming SKAdNetworkPostback, expecting adNetworks: Set<String>?, isSignedByFirst: Bool? = nil
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
      return SKAdNetworkVerdict(
        on: postback, PostbackRejection(.badSignature, "the signature was not made by a key of Apple's"), environment: nil, keyId: nil)
    }
    var rejection: PostbackRejection?
    if let adNetworks, !Self.contains(adNetworks, postback.adNetworkId) {
      rejection = PostbackRejection(.wrongAdNetwork, field: "ad-network-id", "is another ad network's")
    }
    return SKAdNetworkVerdict(
      on: postback, rejection, environment: production == nil ? .development : .production, keyId: keyId)
  }

  /// The id of the key that signed the postback; nil if none of the candidates did.
  private static func signer(of postback: borrowing SKAdNetworkPostback, _ candidates: ArraySlice<ApplePublicKeys.Key>) -> String? {
    guard !candidates.isEmpty else { return nil }
    let message = postback.signedString
    let signature = postback.signature
    return candidates.first { $0.key.verifies(signature, of: message) }?.id
  }
}

extension SKAdNetworkVerdict {
  fileprivate init(
    on postback: consuming SKAdNetworkPostback, _ rejection: PostbackRejection?, environment: PostbackEnvironment?, keyId: String?
  ) {
    let (version, transactionId) = (postback.version.rawValue, postback.transactionId)
    let naturalKey = rejection == nil ? postback.naturalKey : nil
    self.init(
      reason: rejection?.reason, field: rejection?.field, explanation: rejection?.explanation, version: version,
      environment: environment, keyId: keyId, transactionId: transactionId, postback: postback, naturalKey: naturalKey)
  }

  /// - Parameter object: the body; nil if it is not a JSON object.
  fileprivate init(rejected rejection: PostbackRejection, _ object: JSONObject?) {
    self.init(
      reason: rejection.reason, field: rejection.field, explanation: rejection.explanation,
      version: object?["version"]?.stringValue, environment: nil, keyId: nil,
      transactionId: object?["transaction-id"]?.stringValue, postback: nil, naturalKey: nil)
  }
}
