import Cryptography
public import WireJSON

/// Reads from a postback what ingest needs to accept it: the kind, and the natural key that it has if it is genuine. Nothing is verified,
/// so that a sender is answered quickly. ``PostbackVerifier`` verifies the postback later, in verifier.
public enum PostbackSniffer {
  /// What was read. Anybody can write such a body, so it must not be trusted.
  public struct Findings: Sendable, Hashable {
    public let kind: PostbackKind
    /// The natural key that the postback has if it is genuine; nil if its fields are missing.
    public let naturalKey: String?
    /// The ad network that the postback names; nil if it names none.
    public let adNetworkId: String?
  }

  /// The longest natural key or ad network id, bytes. Those of genuine postbacks are shorter.
  private static let maxKeyBytes = 512

  /// Reads a body. The kind is decided by the presence of a field: an AdAttributionKit postback has `jws-string`, a SKAdNetwork postback
  /// `attribution-signature`.
  ///
  /// Throws ``JSONError`` if the body is not a JSON object, has a repeated name, or has neither of the two fields.
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
            ? "is missing: every SKAdNetwork postback has it"
            : "is missing: every AdAttributionKit postback has it, and every SKAdNetwork postback has attribution-signature"),
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
    return Findings(kind: .skAdNetwork, naturalKey: nilIfTooLong(key), adNetworkId: nilIfTooLong(adNetworkId))
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
    return Findings(kind: .adAttributionKit, naturalKey: nilIfTooLong(key), adNetworkId: nilIfTooLong(adNetworkId))
  }

  private static func nilIfTooLong(_ text: String?) -> String? {
    text.flatMap { $0.utf8.count <= maxKeyBytes ? $0 : nil }
  }
}
