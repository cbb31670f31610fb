import Cryptography
import WireJSON

/// A SKAdNetwork install-validation postback (Identifying the parameters in install-validation postbacks).
///
/// Only fields of its version are read; other members stay in ``raw`` and are ignored. Nothing is verified here; see ``PostbackVerifier``.
public struct SKAdNetworkPostback: Sendable, Hashable {
  public let version: SKAdNetworkVersion
  public let adNetworkId: String
  /// 1–100; up to version 3.0.
  public let campaignId: Int?
  /// Two to four digits, version 4.0. They are the low-order digits: `39` belongs to `239` and `5239`. It is text, because leading zeros
  /// count.
  public let sourceIdentifier: String?
  /// As written; ``naturalKey`` has it in lower case.
  public let transactionId: String
  public let appId: Int64
  /// True if this Apple account had the app before; from version 2.0 on.
  public let redownload: Bool?
  /// 0 in tests; absent below the privacy threshold.
  public let sourceAppId: Int64?
  public let sourceDomain: String?
  /// 1 StoreKit-rendered and web ads, 0 view-through; from version 2.2 on.
  public let fidelityType: Int?
  /// From version 3.0 on; earlier postbacks are always winning ones.
  public let didWin: Bool?
  /// The conversion window, version 4.0.
  public let postbackSequenceIndex: Int?
  /// 0–63. Not signed, so a holder of a genuine postback can send it again with another value. Apple sends it in the first window only; in
  /// another one it is kept but has no meaning (``ConversionSchema``).
  public let conversionValue: Int?
  /// Version 4.0. Not signed. Never present together with ``conversionValue`` (``PostbackFields``).
  public let coarseConversionValue: CoarseConversionValue?
  /// Not signed.
  public let countryCode: String?
  /// Apple's signature.
  public let signature: ECDSASignature
  /// The body's object, unchanged.
  public let raw: JSONObject

  /// Reads a body. Throws ``PostbackRejection``: `malformed` with the field, `unsupported_version`, `malformed_signature`.
  public init(parsing body: [UInt8]) throws(PostbackRejection) {
    try self.init(PostbackBody.object(body))
  }

  /// Reads the body's object.
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
    // Both are signed at the same position, so an app's id could be passed off as a domain.
    if let sourceDomain, sourceDomain.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      throw PostbackRejection(.malformed, field: "source-domain", "is not a domain")
    }
    fidelityType = version >= .v2_2 ? Int(try fields.integer("fidelity-type", 0...1)) : nil
    didWin = version >= .v3_0 ? try fields.bool("did-win") : nil
    postbackSequenceIndex = version >= .v4_0 ? Int(try fields.integer("postback-sequence-index", 0...2)) : nil
    if version >= .v2_0 {
      (conversionValue, coarseConversionValue) = try fields.conversion(coarse: version >= .v4_0)
    } else {
      (conversionValue, coarseConversionValue) = (nil, nil)
    }
    countryCode = version >= .v4_0 ? try fields.countryCode() : nil
    signature = try Self.signature(fields, version: version)
    raw = object
  }

  /// The natural key. Apple requires only the transaction id, and does not state whether the three postbacks of a conversion share it. With
  /// the index, the key is right in both cases.
  public var naturalKey: String {
    Self.naturalKey(adNetworkId: adNetworkId, transactionId: transactionId, index: postbackSequenceIndex)
  }

  static func naturalKey(adNetworkId: String, transactionId: String, index: Int?) -> String {
    var key = "skadnetwork:"
    key.reserveCapacity(16 + adNetworkId.utf8.count + transactionId.utf8.count)
    key += adNetworkId
    key += ":"
    key += transactionId.lowercased()
    if let index {
      key += ":"
      key += String(index)
    }
    return key
  }

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
    // A signature with the width of the other key is well-formed but wrong, so it must not be reported as malformed.
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
