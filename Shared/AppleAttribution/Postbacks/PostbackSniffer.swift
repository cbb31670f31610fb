import Cryptography
public import WireJSON

/// Reads what is needed to accept a postback: it is fast and verifies nothing.
public enum PostbackSniffer {
  public struct Findings: Sendable, Hashable {
    public let kind: PostbackKind
    /// The natural key that the postback has if it is genuine; nil if its fields are missing.
    public let naturalKey: String?
    public let adNetworkId: String?
  }

  /// The longest key. No genuine one is longer.
  private static let maxKeyBytes = 512

  /// Distinguishes the kinds by their fields: `jws-string` is AdAttributionKit's, `attribution-signature` SKAdNetwork's.
  ///
  /// Throws ``JSONError`` if it is not a JSON object, has a repeated name, or is neither kind, with the missing field.
  public static func inspect(_ body: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) -> Findings {
    guard case .object(let object) = try JSONValue(parsing: body, limits: limits) else {
      throw JSONError(.wrongType(expected: "an object"))
    }
    if object["jws-string"].map({ !$0.isNull }) ?? false { return inspectAdAttributionKit(object) }
    guard object["attribution-signature"].map({ !$0.isNull }) ?? false else {
      let isSKAdNetwork = object["ad-network-id"] != nil || object["transaction-id"] != nil
      throw JSONError(
        .outOfRange(
          isSKAdNetwork
            ? "is missing: a SKAdNetwork postback has it"
            : "is missing: an AdAttributionKit postback has it, a SKAdNetwork postback has attribution-signature"),
        path: isSKAdNetwork ? "attribution-signature" : "jws-string")
    }
    return inspectSKAdNetwork(object)
  }

  private static func inspectSKAdNetwork(_ object: JSONObject) -> Findings {
    let adNetworkId = object["ad-network-id"]?.stringValue
    var key: String?
    if let adNetworkId, let transactionId = object["transaction-id"]?.stringValue {
      let fields = PostbackFields(object)
      let index =
        object["version"] == .string(SKAdNetworkVersion.v4_0.rawValue)
        ? (try? fields.optionalInteger("postback-sequence-index", 0...2)).flatMap { $0 }.map { Int($0) } : nil
      key = SKAdNetworkPostback.naturalKey(adNetworkId: adNetworkId, transactionId: transactionId, index: index)
    }
    return Findings(kind: .skAdNetwork, naturalKey: bounded(key), adNetworkId: bounded(adNetworkId))
  }

  private static func inspectAdAttributionKit(_ object: JSONObject) -> Findings {
    var key: String?
    var adNetworkId: String?
    if let text = object["jws-string"]?.stringValue, let jws = try? CompactJWS(text),
      case .object(let payload) = try? JSONValue(parsing: jws.payload)
    {
      adNetworkId = payload["ad-network-identifier"]?.stringValue
      let index = (try? PostbackFields(payload).optionalInteger("postback-sequence-index", 0...2)).flatMap { $0 }
      if let adNetworkId, let identifier = payload["postback-identifier"]?.stringValue, let index {
        key = AdAttributionKitPostback.naturalKey(adNetworkId: adNetworkId, identifier: identifier, index: Int(index))
      }
    }
    return Findings(kind: .adAttributionKit, naturalKey: bounded(key), adNetworkId: bounded(adNetworkId))
  }

  private static func bounded(_ text: String?) -> String? {
    text.flatMap { $0.utf8.count <= maxKeyBytes ? $0 : nil }
  }
}
