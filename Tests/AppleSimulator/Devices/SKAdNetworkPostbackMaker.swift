import WireJSON

/// Creates SKAdNetwork postbacks of all versions and signs them as devices do.
///
/// Apple's documents: *Combining parameters for SKAdNetwork 4 postbacks*, *… SKAdNetwork 3 postbacks*, *… previous postback versions*,
/// *Verifying an install-validation postback*.
public struct SKAdNetworkPostbackMaker: Sendable {
  public static let versions = ["1.0", "2.0", "2.1", "2.2", "3.0", "4.0"]
  static let separator = "\u{2063}"

  let keys: DeviceKeys
  let random: SeededRandom

  public init(keys: DeviceKeys, random: SeededRandom) {
    self.keys = keys
    self.random = random
  }

  /// Creates a postback for a control request. Fields that the request does not set get generated values; the README lists their names.
  public func make(_ request: JSONObject) throws -> Postback {
    let version = request["version"]?.stringValue ?? "4.0"
    guard Self.versions.contains(version) else { throw PostbackError("version: one of \(Self.versions)") }
    var fields = try values(version: version, request)
    fields.merge(request["fields"]?.objectValue)
    let identifier = fields["transaction-id"]?.stringValue ?? ""
    let text = Self.signedText(version: version, fields)
    let key: EllipticKey
    switch request["key"]?.stringValue {
    case nil: key = version == "1.0" || version == "2.0" ? keys.p192 : keys.p256
    case "p192": key = keys.p192
    case "p256": key = keys.p256
    case "development": key = keys.development
    default: throw PostbackError("key: p192, p256 or development")
    }
    fields["attribution-signature"] = .string(Base64Text.encode(try key.signDER(Array(text.utf8))))
    let variants = (request["variants"]?.arrayValue ?? []).map { variant in
      var changed = fields
      changed.merge(variant.objectValue)
      return JSONValue.object(changed).serializedString
    }
    fields.merge(request["unsigned"]?.objectValue)
    return Postback(
      body: JSONValue.object(fields).serializedString, identifier: identifier,
      adNetworkID: fields["ad-network-id"]?.stringValue ?? "", won: fields["did-win"]?.boolValue ?? true,
      variants: variants,
      protected: identifier)
  }

  /// The members of the postback, without its signature.
  private func values(version: String, _ request: JSONObject) throws -> JSONObject {
    let web = request["web"]?.boolValue ?? false
    let won = request["didWin"]?.boolValue ?? true
    let window = request["sequenceIndex"]?.int64Value ?? 0
    guard (0...2).contains(window) else { throw PostbackError("sequenceIndex: 0, 1 or 2") }
    guard won || window == 0 else { throw PostbackError("didWin: a lost conversion has the first postback only") }
    guard won || version >= "3.0" else { throw PostbackError("didWin: only winners get postbacks before 3.0") }
    guard !web || version == "4.0" else { throw PostbackError("web: 4.0 only") }
    var fields = JSONObject()
    if version != "1.0" { fields["version"] = .string(version) }
    fields["ad-network-id"] = request["adNetworkId"] ?? "example123.skadnetwork"
    if version == "4.0" {
      fields["source-identifier"] = request["sourceIdentifier"] ?? .string(window > 0 ? "39" : "5239")
    } else {
      fields["campaign-id"] = request["campaignId"] ?? .integer(random.integer(in: 1...100))
    }
    fields["transaction-id"] = request["transactionId"] ?? .string(random.uuid())
    fields["app-id"] = request["appId"] ?? 525_463_029
    if version != "1.0" { fields["redownload"] = request["redownload"] ?? .bool(random.bool()) }
    if version != "1.0", won, window == 0 {
      if web {
        fields["source-domain"] = request["sourceDomain"] ?? "example.com"
      } else {
        fields["source-app-id"] = request["sourceAppId"] ?? 1_234_567_891
      }
    }
    if version >= "2.2" {
      fields["fidelity-type"] = request["fidelityType"] ?? .integer(web ? 1 : random.integer(in: 0...1))
    }
    if version >= "3.0" { fields["did-win"] = .bool(won) }
    if version == "4.0" { fields["postback-sequence-index"] = .integer(window) }
    if version != "1.0", won {
      if let coarse = request["coarseConversionValue"] ?? usualCoarse(window) {
        fields["coarse-conversion-value"] = coarse
      } else {
        fields["conversion-value"] = request["conversionValue"] ?? .integer(random.integer(in: 0...63))
      }
    }
    fields["country-code"] = request["countryCode"]
    return JSONObject(fields.members.filter { !$0.value.isNull })
  }

  /// The text that is signed: the values in the order of the version, with a separator between them.
  static func signedText(version: String, _ fields: JSONObject) -> String {
    var names = version == "1.0" ? [] : ["version"]
    names += ["ad-network-id", version == "4.0" ? "source-identifier" : "campaign-id", "app-id", "transaction-id"]
    if version != "1.0" { names += ["redownload", "source-app-id"] }
    if version == "4.0" { names.append("source-domain") }
    if version >= "2.2" { names.append("fidelity-type") }
    if version >= "3.0" { names.append("did-win") }
    if version == "4.0" { names.append("postback-sequence-index") }
    return names.compactMap { name in
      switch fields[name] {
      case .string(let text): text
      case .number(let number): number.text
      case .bool(let value): value ? "true" : "false"
      default: nil
      }
    }.joined(separator: separator)
  }
}
