import WireJSON

/// A postback as events contain it: typed, with its unsigned values, its privacy tier and what was withheld.
extension SKAdNetworkPostback {
  /// The object with every known field in its proper JSON type, under Apple's names, and all other members unchanged.
  public var typed: JSONObject {
    var object = JSONObject()
    object.reserveCapacity(raw.members.count + 1)
    for member in raw.members where !member.value.isNull { object.append(new: member.key, typed(member)) }
    if version == .v1_0, object["version"] == nil { object.append(new: "version", .string(version.rawValue)) }
    return object
  }

  /// Writes ``typed``.
  public func writeTyped(to writer: inout JSONWriter) {
    writer.beginObject()
    var namesVersion = false
    // By index, so that members are not copied.
    for place in raw.members.indices where !raw.members[place].value.isNull {
      namesVersion = namesVersion || raw.members[place].key == "version"
      writer.key(dynamic: raw.members[place].key)
      switch typedValue(raw.members[place].key, raw.members[place].value) {
      case .bool(let value): writer.bool(value)
      case .integer(let value): writer.int(value)
      case nil: writer.value(raw.members[place].value)
      }
    }
    if !namesVersion {
      writer.key("version")
      writer.string(version.rawValue)
    }
    writer.endObject()
  }

  /// The value in the type that Apple gives it.
  private func typed(_ member: JSONObject.Member) -> JSONValue {
    switch typedValue(member.key, member.value) {
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case nil: member.value
    }
  }

  private enum TypedValue {
    case bool(Bool)
    case integer(Int64)
  }

  /// A value that was received in another type than Apple's, converted to Apple's type. Nil if it has that type already, and for fields
  /// that the version does not have.
  private func typedValue(_ name: String, _ value: JSONValue) -> TypedValue? {
    switch value {
    case .number: typedBool(name).map { .bool($0) }
    case .string: typedBool(name).map { .bool($0) } ?? typedInteger(name).map { .integer($0) }
    default: nil
    }
  }

  // Most names differ in length, so the length is compared first.

  private func typedBool(_ name: String) -> Bool? {
    switch name.utf8.count {
    case 10: name == "redownload" ? redownload : nil
    case 7: name == "did-win" ? didWin : nil
    default: nil
    }
  }

  private func typedInteger(_ name: String) -> Int64? {
    switch name.utf8.count {
    case 6: name == "app-id" ? appId : nil
    case 11: name == "campaign-id" ? campaignId.map { Int64($0) } : nil
    case 13: name == "source-app-id" ? sourceAppId : name == "fidelity-type" ? fidelityType.map { Int64($0) } : nil
    case 16: name == "conversion-value" ? conversionValue.map { Int64($0) } : nil
    case 23: name == "postback-sequence-index" ? postbackSequenceIndex.map { Int64($0) } : nil
    default: nil
    }
  }

  /// The unsigned values, including fields of other versions, unchanged. Two deliveries of one postback with different ones conflict.
  public var unsignedValues: JSONObject {
    var object = JSONObject()
    if let conversionValue { object["conversion-value"] = .integer(conversionValue) }
    if let coarseConversionValue { object["coarse-conversion-value"] = .string(coarseConversionValue.rawValue) }
    if let countryCode { object["country-code"] = .string(countryCode) }
    for name in Self.namesOfOthers(than: version) {
      if let value = raw[name], !value.isNull { object[name] = value }
    }
    return object
  }

  /// Apple's names that the version does not have. Their values are not signed.
  private static func namesOfOthers(than version: SKAdNetworkVersion) -> [String] {
    switch version {
    case .v1_0: beforeTwo
    case .v2_0, .v2_1: beforeTwoTwo
    case .v2_2: beforeThree
    case .v3_0: beforeFour
    case .v4_0: sinceFour
    }
  }

  private static let sinceFour = ["campaign-id"]
  private static let beforeFour = [
    "source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code",
  ]
  private static let beforeThree = beforeFour + ["did-win"]
  private static let beforeTwoTwo = beforeThree + ["fidelity-type"]
  private static let beforeTwo = beforeTwoTwo + ["redownload", "source-app-id", "conversion-value"]

  /// True if the ad won the conversion.
  public var isWinning: Bool { didWin ?? true }

  /// The privacy tier of the postback; nil before version 4.0, which has no tiers.
  public var privacy: PrivacyTier? {
    guard version >= .v4_0, let sourceIdentifier, let index = postbackSequenceIndex else { return nil }
    return PrivacyTier(
      windowIndex: index, isWinning: isWinning, sourceDigits: sourceIdentifier.utf8.count,
      hasSource: sourceAppId != nil || sourceDomain != nil, hasCountry: countryCode != nil,
      hasFineValue: conversionValue != nil, hasCoarseValue: coarseConversionValue != nil, hasMarketplace: nil,
      names: PrivacyTier.Names(source: "source-app-id"))
  }

  /// Fields that are absent for privacy, or because the app set no value. They do not count as zero.
  public var withheld: [String] {
    if let privacy { return privacy.withheld }
    guard version >= .v2_0, isWinning else { return [] }
    return (sourceAppId == nil ? ["source-app-id"] : []) + (conversionValue == nil ? ["conversion-value"] : [])
  }
}
