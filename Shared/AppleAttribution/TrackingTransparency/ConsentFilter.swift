import WireJSON

/// Removes from a payload what may be passed on only with the user's consent. ``ConsentScan`` does the work.
///
/// Three things are removed, at any depth:
/// - fields with certain names, whatever their case, hyphens and underscores, also if the name is the value of another field
///   (`{"key": "idfa", "value": …}`) or comes before it in a list;
/// - texts that contain a field with such a name, such as JSON or a query in a string;
/// - names and values that contain the value of a removed field in any spelling, or a UUID in it, because apps copy it into parameters of
///   their own. Values with fewer than ``ConsentScan/minCopyLength`` letters and digits are not searched for.
///
/// Hashes and Base64 of an identifier are not recognized as copies of it.
///
/// The time that this takes is linear in the payload's size, whatever the payload contains.
public struct ConsentFilter: Sendable {
  /// The names that SDKs give to the advertising identifier. `adid` is not among them: it is an id of Apple Ads, and of some networks.
  static let identifierNames = [
    "idfa", "ios_idfa", "apple_idfa", "raw_idfa", "idfa_md5", "idfa_sha1", "idfa_sha256", "ifa", "ios_ifa", "apple_ifa", "device_ifa",
    "advertiserId", "ios_advertiser_id", "advertiserIdentifier", "advertisingId", "advertising_ids", "ios_advertising_id",
    "device_advertising_id", "advertisingIdentifier", "advertising_tracking_id", "advertisement_id", "ad_identifier", "ad_tracking_id",
    "id_for_advertisers", "id_for_advertising", "identifier_for_advertisers", "identifier_for_advertising", "resettable_device_id", "rdid",
    "maid", "madid", "mobile_ad_id",
  ]
  /// The other names that are always removed: the device's start time, and the times in Apple's attribution records.
  static let standardNames = ["started_at", "clickDate", "impressionDate"]

  /// A payload without the removed parts, and the names of what was removed.
  public struct Filtered: Sendable, Hashable {
    public var payload: JSONObject
    /// The names of the removed fields, sorted, without duplicates. A name that contains a removed value is replaced, and so is that of an
    /// element of a list.
    public var removedNames: [String]
  }

  /// A filter for the standard names only.
  public static let standard = ConsentFilter()

  // The names in the spelling of ``TextVariants/folded(_:)``.
  private let identifiers: Set<[UInt8]>
  private let names: Set<[UInt8]>
  private let namePatterns: BytePatterns

  /// - Parameter additionalNames: the names of further fields that need consent in this deployment.
  public init(additionalNames: [String] = []) {
    func folded(_ names: [String]) -> Set<[UInt8]> { Set(names.map { TextVariants.folded($0.utf8) }).subtracting([[]]) }
    identifiers = folded(Self.identifierNames)
    names = identifiers.union(folded(Self.standardNames + additionalNames))
    namePatterns = BytePatterns(names)
  }

  /// The payload that may be sent. With consent, that is all of it except an identifier of zeros, which stands for none.
  public func filter(_ payload: JSONObject, consent: Bool) -> Filtered {
    guard !consent else { return Filtered(payload: withoutAbsent(payload), removedNames: []) }
    var scan = ConsentScan(names: names, identifiers: identifiers, patterns: namePatterns)
    let kept = scan.filtered(payload)
    return Filtered(payload: kept, removedNames: scan.removedNames.sorted())
  }

  private static let advertisingId = BytePatterns([Array("advertisingid".utf8)])

  /// True for a name with `idfa` or `advertisingId` in it, such as `device_idfa`. The letters of `bidFactor` and `bid_factor` do not count,
  /// because they belong to two words.
  static func containsIdentifierName(_ name: some Collection<UInt8>) -> Bool {
    if advertisingId.occur(in: name) { return true }
    // The last five bytes.
    var last: (UInt8, UInt8, UInt8, UInt8, UInt8) = (0, 0, 0, 0, 0)
    for byte in name {
      last = (last.1, last.2, last.3, last.4, byte)
      guard
        (last.1 | 0x20, last.2 | 0x20, last.3 | 0x20, byte | 0x20)
          == (UInt8(ascii: "i"), UInt8(ascii: "d"), UInt8(ascii: "f"), UInt8(ascii: "a"))
      else { continue }
      let isTwoWords =
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(last.0)
        && (last.1, last.2, last.3)
          == (UInt8(ascii: "i"), UInt8(ascii: "d"), UInt8(ascii: "F"))
      if !isTwoWords { return true }
    }
    return false
  }

  /// True for an identifier of zeros, which devices report if there is none.
  static func isAbsentIdentifier(_ text: String) -> Bool {
    let digits = TextVariants.folded(text.utf8)
    return digits.count == 32 && digits.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  /// The object without identifiers of zeros.
  private func withoutAbsent(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.compactMap { member in
        if identifiers.contains(TextVariants.folded(member.key.utf8)) || Self.containsIdentifierName(member.key.utf8),
          case .string(let text) = member.value, Self.isAbsentIdentifier(text)
        {
          return nil
        }
        return JSONObject.Member(key: member.key, value: withoutAbsent(member.value))
      })
  }

  private func withoutAbsent(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object): .object(withoutAbsent(object))
    case .array(let elements): .array(elements.map { withoutAbsent($0) })
    default: value
    }
  }
}
