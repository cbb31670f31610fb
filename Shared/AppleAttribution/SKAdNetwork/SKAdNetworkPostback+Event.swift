import WireJSON

/// The postback as events contain it: its members in Apple's JSON types, its unsigned values, its privacy tier, and the withheld fields.
extension SKAdNetworkPostback {
  /// The body's members, with the fields of the version in Apple's JSON types and all other members unchanged, but without nulls. A body of
  /// version 1.0 that has no `version` gets one.
  public var typed: JSONObject {
    var object = JSONObject()
    object.reserveCapacity(raw.members.count + 1)
    for member in raw.members where !member.value.isNull { object.append(new: member.key, typed(member)) }
    if version == .v1_0, object["version"] == nil { object.append(new: "version", .string(version.rawValue)) }
    return object
  }

  /// Writes the same as ``typed``, without making the object.
  public func writeTyped(to writer: inout JSONWriter) {
    writer.beginObject()
    var hasVersion = false
    // The members are read by index, so that they are not copied.
    for index in raw.members.indices where !raw.members[index].value.isNull {
      hasVersion = hasVersion || raw.members[index].key == "version"
      writer.key(dynamic: raw.members[index].key)
      switch typedValue(raw.members[index].key, raw.members[index].value) {
      case .bool(let value): writer.bool(value)
      case .integer(let value): writer.int(value)
      case nil: writer.value(raw.members[index].value)
      }
    }
    if !hasVersion {
      writer.key("version")
      writer.string(version.rawValue)
    }
    writer.endObject()
  }

  /// The member's value in Apple's type.
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

  /// A value that was received in another type than Apple's, converted to Apple's type. Nil if it has Apple's type, and for members that
  /// are not fields of the version.
  private func typedValue(_ name: String, _ value: JSONValue) -> TypedValue? {
    switch value {
    case .number: typedBool(name).map { .bool($0) }
    case .string: typedBool(name).map { .bool($0) } ?? typedInteger(name).map { .integer($0) }
    default: nil
    }
  }

  // The names are compared by length first, which is fast, and most of them differ in length.

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

  /// The unsigned values, including fields of other versions, unchanged. If two deliveries of one postback have different unsigned values,
  /// those of the first count (`VerificationWorker+RepeatedPostbacks.swift` in verifier).
  public var unsignedValues: JSONObject {
    var object = JSONObject()
    if let conversionValue { object["conversion-value"] = .integer(conversionValue) }
    if let coarseConversionValue { object["coarse-conversion-value"] = .string(coarseConversionValue.rawValue) }
    if let countryCode { object["country-code"] = .string(countryCode) }
    for name in Self.unsignedNames(in: version) {
      if let value = raw[name], !value.isNull { object[name] = value }
    }
    return object
  }

  /// Apple's names of fields that the version does not have. Members with these names are not signed.
  private static func unsignedNames(in version: SKAdNetworkVersion) -> [String] {
    switch version {
    case .v1_0: newSince2_0
    case .v2_0, .v2_1: newSince2_2
    case .v2_2: newSince3_0
    case .v3_0: newSince4_0
    case .v4_0: droppedIn4_0
    }
  }

  private static let droppedIn4_0 = ["campaign-id"]
  private static let newSince4_0 = [
    "source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code",
  ]
  private static let newSince3_0 = newSince4_0 + ["did-win"]
  private static let newSince2_2 = newSince3_0 + ["fidelity-type"]
  private static let newSince2_0 = newSince2_2 + ["redownload", "source-app-id", "conversion-value"]

  /// True if the ad won the conversion. Before version 3.0, only winning postbacks are sent.
  public var isWinning: Bool { didWin ?? true }

  /// The privacy tier of the postback; nil before version 4.0, because earlier versions have no tiers.
  public var privacy: PrivacyTier? {
    guard version >= .v4_0, let sourceIdentifier, let index = postbackSequenceIndex else { return nil }
    return PrivacyTier(
      windowIndex: index, isWinning: isWinning, sourceDigits: sourceIdentifier.utf8.count,
      hasSource: sourceAppId != nil || sourceDomain != nil, hasCountry: countryCode != nil,
      hasFineValue: conversionValue != nil, hasCoarseValue: coarseConversionValue != nil, hasMarketplace: nil,
      names: PrivacyTier.Names(source: "source-app-id"))
  }

  /// The names of fields that are absent for privacy, or because the app set no value. An absent value is not zero.
  public var withheld: [String] {
    if let privacy { return privacy.withheld }
    guard version >= .v2_0, isWinning else { return [] }
    return (sourceAppId == nil ? ["source-app-id"] : []) + (conversionValue == nil ? ["conversion-value"] : [])
  }
}
