public import WireJSON

/// The configured names of an ad network's source identifiers (Receiving postbacks in multiple conversion windows). The digits of an
/// identifier are hierarchical. A postback contains the last two, the last three or all four of them: `39` belongs to `239` and to `5239`.
public struct SourceIdentifierNames: Sendable, Hashable {
  /// One level of the hierarchy.
  public enum Level: String, Sendable, Hashable, CaseIterable {
    case campaign, adGroup, creative

    /// The number of last digits that identify the level.
    public var digits: Int {
      switch self {
      case .campaign: 2
      case .adGroup: 3
      case .creative: 4
      }
    }
  }

  private let names: [Level: [String: String]]
  /// The names of the campaign ids of SKAdNetwork up to 3.0, 1 to 100.
  private let campaignIds: [Int: String]

  /// Throws ``FieldError`` for a key that does not have its level's number of digits, and for a campaign id out of range. The error's field
  /// is `campaigns`, `adGroups`, `creatives` or `campaignIds`.
  public init(_ names: [Level: [String: String]], campaignIds: [Int: String] = [:]) throws(FieldError) {
    for (level, table) in names {
      for key in table.keys where key.utf8.count != level.digits || !key.utf8.allSatisfy({ (48...57).contains($0) }) {
        throw FieldError(field: "\(level.rawValue)s", reason: "its keys must be \(level.digits) digits in quotes; \(key) is not")
      }
    }
    for key in campaignIds.keys where !(1...100).contains(key) {
      throw FieldError(field: "campaignIds", reason: "its keys must be 1 to 100; \(key) is not")
    }
    self.names = names
    self.campaignIds = campaignIds
  }

  /// The format in events. `digits` is the number of digits of the identifier. Each level has an object with its `status` (`named`,
  /// `unnamed` or `unknown`), its own `digits`, and its `name`, as far as they are known. The level of a withheld digit is unknown and
  /// never guessed. Leading zeros count.
  public func json(sourceIdentifier: String) -> JSONObject {
    var object: JSONObject = ["digits": .integer(Int64(sourceIdentifier.utf8.count))]
    for level in Level.allCases {
      guard sourceIdentifier.utf8.count >= level.digits else {
        object[level.rawValue] = ["status": "unknown"]
        continue
      }
      let digits = String(sourceIdentifier.suffix(level.digits))
      object[level.rawValue] = .object(Self.entry(digits, names[level]?[digits]))
    }
    return object
  }

  /// The format in events for a campaign id, up to version 3.0.
  public func json(campaignId: Int) -> JSONObject {
    ["campaign": .object(Self.entry(String(campaignId), campaignIds[campaignId]))]
  }

  private static func entry(_ digits: String, _ name: String?) -> JSONObject {
    var object: JSONObject = ["status": name == nil ? "unnamed" : "named", "digits": .string(digits)]
    object["name"] = name.map { .string($0) }
    return object
  }
}
