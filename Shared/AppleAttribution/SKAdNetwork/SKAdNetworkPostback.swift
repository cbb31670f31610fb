import Cryptography
import WireJSON

/// The values of a SKAdNetwork install-validation postback (Identifying the parameters in install-validation postbacks).
///
/// Only the fields of the postback's version are read; other members stay in ``raw``. The signature is parsed but not verified here
/// (``PostbackVerifier``). `SKAdNetworkPostback+SignedString.swift` has the bytes that Apple signs, `SKAdNetworkPostback+Event.swift` the
/// values as events contain them.
public struct SKAdNetworkPostback: Sendable, Hashable {
  public let version: SKAdNetworkVersion
  public let adNetworkId: String
  /// 1 to 100; up to version 3.0.
  public let campaignId: Int?
  /// Two to four digits; from version 4.0 on. They are the last digits of the impression's source identifier: `39` may come from `239` or
  /// from `5239`. It is text, because leading zeros count.
  public let sourceIdentifier: String?
  /// A UUID in the case in which Apple wrote it. In ``naturalKey`` it is in lower case.
  public let transactionId: String
  /// The advertised app.
  public let appId: Int64
  /// True if the customer's Apple account had the app before; from version 2.0 on.
  public let redownload: Bool?
  /// The app that showed the ad, from version 2.0 on; absent below the privacy threshold. 0 in Apple's test postbacks.
  public let sourceAppId: Int64?
  /// The site that showed the web ad, from version 4.0 on; absent below the privacy threshold.
  public let sourceDomain: String?
  /// 1 for StoreKit-rendered and web ads, 0 for view-through ads; from version 2.2 on.
  public let fidelityType: Int?
  /// True if the ad won the conversion; from version 3.0 on. Postbacks of earlier versions are always winning ones.
  public let didWin: Bool?
  /// The conversion window, 0 to 2; from version 4.0 on.
  public let postbackSequenceIndex: Int?
  /// The values that Apple does not sign: a conversion value from version 2.0 on, a coarse one and the country from version 4.0 on.
  public let unsigned: UnsignedValues
  /// Apple's signature, not verified.
  public let signature: ECDSASignature
  /// The body as a JSON object, unchanged.
  public let raw: JSONObject

  /// Parses a body. Throws ``PostbackRejection`` with `malformed`, `unsupported_version` or `malformed_signature`, and the field.
  public init(parsing body: [UInt8]) throws(PostbackRejection) {
    try self.init(PostbackBody.object(body))
  }

  /// Reads a parsed body. Throws as ``init(parsing:)``.
  public init(_ object: JSONObject) throws(PostbackRejection) {
    let fields = PostbackFields(object)
    let version = try Self.version(fields)
    self.version = version
    adNetworkId = try fields.string("ad-network-id")
    if version < .v4_0 {
      campaignId = Int(try fields.integer("campaign-id", 1...100))
      sourceIdentifier = nil
    } else {
      campaignId = nil
      sourceIdentifier = try fields.sourceIdentifier()
    }
    transactionId = try fields.string("transaction-id")
    appId = try fields.integer("app-id", 0...Int64.max)
    redownload = version >= .v2_0 ? try fields.bool("redownload") : nil
    sourceAppId = version >= .v2_0 ? try fields.optionalInteger("source-app-id", 0...Int64.max) : nil
    sourceDomain = version >= .v4_0 ? try fields.optionalString("source-domain") : nil
    guard sourceAppId == nil || sourceDomain == nil else {
      throw PostbackRejection(.malformed, field: "source-domain", "must not be present together with source-app-id")
    }
    // Both are signed at the same position. So a sender could pass an app's id off as a domain, and the signature would still be valid.
    if let sourceDomain, sourceDomain.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      throw PostbackRejection(.malformed, field: "source-domain", "is not a domain")
    }
    fidelityType = version >= .v2_2 ? Int(try fields.integer("fidelity-type", 0...1)) : nil
    didWin = version >= .v3_0 ? try fields.bool("did-win") : nil
    postbackSequenceIndex = version >= .v4_0 ? Int(try fields.integer("postback-sequence-index", 0...2)) : nil
    unsigned = UnsignedValues(object, of: .skAdNetwork(version))
    signature = try Self.signature(fields, version: version)
    raw = object
  }

  /// The natural key: ad network and transaction id in lower case, conversion window. Apple says that the transaction id identifies a
  /// postback, but not whether the three postbacks of one conversion share it. With the window, the key is right in both cases.
  public var naturalKey: String {
    Self.naturalKey(adNetworkId: adNetworkId, transactionId: transactionId, index: postbackSequenceIndex)
  }

  static func naturalKey(adNetworkId: String, transactionId: String, index: Int?) -> String {
    var key = "skadnetwork:"
    key.reserveCapacity(16 + adNetworkId.utf8.count + transactionId.utf8.count)
    key += adNetworkId.asciiLowercased
    key += ":"
    key += transactionId.lowercased()
    if let index {
      key += ":"
      key += String(index)
    }
    return key
  }

  /// The version. If it is absent, it is 1.0.
  private static func version(_ fields: PostbackFields) throws(PostbackRejection) -> SKAdNetworkVersion {
    switch fields.value("version") {
    case nil: return .v1_0
    case .string(let text):
      guard let version = SKAdNetworkVersion(rawValue: text) else {
        throw PostbackRejection(.unsupportedVersion, field: "version", "is not a version of SKAdNetwork")
      }
      return version
    default: throw PostbackRejection(.malformed, field: "version", "must be a string")
    }
  }

  /// The signature: DER in Base64.
  private static func signature(
    _ fields: PostbackFields, version: SKAdNetworkVersion
  ) throws(PostbackRejection) -> ECDSASignature {
    let name = "attribution-signature"
    let text: String
    switch fields.value(name) {
    case nil: throw PostbackFields.missing(name)
    case .string(let value): text = value
    default: throw PostbackRejection(.malformed, field: name, "must be a string")
    }
    guard let der = Base64.decode(text) else { throw PostbackRejection(.malformedSignature, field: name, "is not Base64") }
    // In a version with P-192, a signature as wide as that of a P-256 key is well-formed but wrong, so it must not be reported as
    // malformed.
    let curve = version.postbackCurve
    do throws(SignatureError) {
      return try ECDSASignature(der: der, curve: curve)
    } catch {
      if curve == .p192, error == .outOfRange, let wide = try? ECDSASignature(der: der, curve: .p256),
        (wide.r.prefix(8) + wide.s.prefix(8)).contains(where: { $0 != 0 })
      {
        return wide
      }
      throw PostbackRejection(.malformedSignature, field: name, error.description)
    }
  }
}
