import WireJSON

/// The postback as events contain it: its members in Apple's JSON types, its privacy tier, and the withheld fields.
extension SKAdNetworkPostback {
  /// The fields of the version in Apple's JSON types, in the order of the body's members, and foreign members unchanged. Members that are
  /// null and unsigned values that cannot be used are left out. A body of version 1.0 that has no `version` gets one.
  ///
  /// - Parameter foreign: the names of the foreign members that are kept; nil for all. Foreign are members that are no fields of the
  ///   version: those that somebody else than Apple added, and fields of other versions.
  public func typed(foreign: Set<String>? = nil) -> JSONObject {
    var object = JSONObject()
    object.reserveCapacity(raw.members.count + 1)
    for member in raw.members where !member.value.isNull {
      object.append(new: member.key, shown(member.key).value(member.key, member.value, foreign: foreign))
    }
    if version == .v1_0, object["version"] == nil { object.append(new: "version", .string(version.rawValue)) }
    return object
  }

  /// Writes the same as ``typed(foreign:)``, without making the object.
  public func writeTyped(to writer: inout JSONWriter, foreign: Set<String>?) {
    writer.beginObject()
    var hasVersion = false
    // The members are read by index, so that they are not copied.
    for index in raw.members.indices where !raw.members[index].value.isNull {
      let shown = shown(raw.members[index].key)
      switch shown {
      case .unusable: continue
      case .foreign: guard foreign?.contains(raw.members[index].key) ?? true else { continue }
      default: break
      }
      hasVersion = hasVersion || raw.members[index].key == "version"
      writer.key(dynamic: raw.members[index].key)
      switch shown {
      case .bool(let value): writer.bool(value)
      case .integer(let value): writer.int(value)
      case .text(let value): writer.string(value)
      case .unchanged, .foreign, .unusable: writer.value(raw.members[index].value)
      }
    }
    if !hasVersion {
      writer.key("version")
      writer.string(version.rawValue)
    }
    writer.endObject()
  }

  /// How a member is shown. A member whose value is nil here is no field of the version. The names are compared by length first, which is
  /// fast, and most of them differ in length.
  private func shown(_ name: String) -> PostbackMember {
    switch name.utf8.count {
    case 6 where name == "app-id": .integer(appId)
    case 7 where name == "version": .unchanged
    case 7 where name == "did-win": didWin.map { .bool($0) } ?? .foreign
    case 10 where name == "redownload": redownload.map { .bool($0) } ?? .foreign
    case 11 where name == "campaign-id": campaignId.map { .integer(Int64($0)) } ?? .foreign
    case 12 where name == "country-code": unsigned.countryCode.map { .text($0) } ?? unsigned.withoutValue(name)
    case 13 where name == "ad-network-id": .unchanged
    case 13 where name == "fidelity-type": fidelityType.map { .integer(Int64($0)) } ?? .foreign
    case 13 where name == "source-app-id": sourceAppId.map { .integer($0) } ?? .foreign
    case 13 where name == "source-domain": sourceDomain == nil ? .foreign : .unchanged
    case 14 where name == "transaction-id": .unchanged
    case 16 where name == "conversion-value": unsigned.conversionValue.map { .integer(Int64($0)) } ?? unsigned.withoutValue(name)
    case 17 where name == "source-identifier": sourceIdentifier.map { .text($0) } ?? .foreign
    case 21 where name == "attribution-signature": .unchanged
    case 23 where name == "postback-sequence-index": postbackSequenceIndex.map { .integer(Int64($0)) } ?? .foreign
    case 23 where name == "coarse-conversion-value":
      unsigned.coarseConversionValue.map { .text($0.rawValue) } ?? unsigned.withoutValue(name)
    default: .foreign
    }
  }

  /// True if the ad won the conversion. Before version 3.0, only winning postbacks are sent.
  public var isWinning: Bool { didWin ?? true }

  /// The privacy tier of the postback; nil before version 4.0, because earlier versions have no tiers.
  public var privacy: PrivacyTier? {
    guard version >= .v4_0, let sourceIdentifier, let index = postbackSequenceIndex else { return nil }
    return PrivacyTier(
      windowIndex: index, isWinning: isWinning, sourceDigits: sourceIdentifier.utf8.count,
      hasSource: sourceAppId != nil || sourceDomain != nil, hasMarketplace: nil, unsigned: unsigned,
      names: PrivacyTier.Names(source: "source-app-id"))
  }

  /// The names of fields that are absent for privacy, or because the app set no value. An absent value is not zero. A value that came and
  /// cannot be used is not absent.
  public var withheld: [String] {
    if let privacy { return privacy.withheld }
    guard version >= .v2_0, isWinning else { return [] }
    return (sourceAppId == nil ? ["source-app-id"] : []) + (unsigned.received.isEmpty ? ["conversion-value"] : [])
  }
}
