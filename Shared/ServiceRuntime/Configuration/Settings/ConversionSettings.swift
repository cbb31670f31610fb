import AttributionProtocol

/// An element of `apps[].conversionValues`, parsed but not validated. Its rules are in `ConversionSchema.swift` of AppleAttribution.
public struct ConversionSettings: Sendable, Hashable {
  public struct Revenue: Sendable, Hashable {
    public let minimum: Double
    public let maximum: Double
    public let currency: String
  }

  public struct Fine: Sendable, Hashable {
    public let values: ClosedRange<Int>
    public let event: String
    public let revenue: Revenue?
  }

  public struct Coarse: Sendable, Hashable {
    public let value: String
    public let windows: [Int]
    public let event: String
    public let revenue: Revenue?
  }

  public let version: String
  /// When this version of the schema begins to apply, milliseconds since 1970.
  public let effectiveFrom: Int64
  public let fine: [Fine]
  public let coarse: [Coarse]
  /// The element's path in the configuration file, for error messages.
  public let place: String
}

/// A value of `sourceIdentifiers`: names by the digits of an ad network's source identifiers.
public struct SourceIdentifierSettings: Sendable, Hashable {
  public let campaigns: [String: String]
  public let adGroups: [String: String]
  public let creatives: [String: String]
  public let campaignIds: [Int: String]
  public let place: String
}

extension ConversionSettings {
  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    unknown += node.unknownKeys(["version", "effectiveFrom", "fine", "coarse"])
    place = node.path
    version = try node.required("version").text()
    let from = try node.required("effectiveFrom")
    guard let time = Timestamp(text: try from.text()) else {
      throw ConfigurationError(from.path, "must be an RFC 3339 time, such as 2026-11-21T00:00:00Z")
    }
    effectiveFrom = time.millisecondsSince1970
    var fine: [Fine] = []
    for entry in try node["fine"]?.list() ?? [] {
      unknown += entry.unknownKeys(["values", "event", "revenue"])
      fine.append(
        Fine(
          values: try Self.range(try entry.required("values")), event: try entry.required("event").text(),
          revenue: try Self.revenue(entry, &unknown)))
    }
    self.fine = fine
    var coarse: [Coarse] = []
    for entry in try node["coarse"]?.list() ?? [] {
      unknown += entry.unknownKeys(["value", "windows", "event", "revenue"])
      var windows = [0, 1, 2]
      if let list = entry["windows"] {
        windows = try list.list().map { window throws(ConfigurationError) in Int(clamping: try window.integer()) }
        guard !windows.isEmpty else {
          throw ConfigurationError(list.path, "must have at least one window; without a window the value never counts")
        }
      }
      coarse.append(
        Coarse(
          value: try entry.required("value").text(), windows: windows, event: try entry.required("event").text(),
          revenue: try Self.revenue(entry, &unknown)))
    }
    self.coarse = coarse
  }

  /// A value such as `5`, or a range such as `1-10`.
  private static func range(_ node: ConfigurationNode) throws(ConfigurationError) -> ClosedRange<Int> {
    let parts = node.plain.split(separator: "-", omittingEmptySubsequences: false).map { Int($0.trimmingSpaces()) }
    guard let first = parts.first ?? nil, let last = parts.last ?? nil, parts.count <= 2, first <= last else {
      throw ConfigurationError(node.path, "must be a value such as 5 or a range such as 1-10")
    }
    return first...last
  }

  private static func revenue(_ entry: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) -> Revenue? {
    guard let node = entry["revenue"] else { return nil }
    unknown += node.unknownKeys(["min", "max", "currency"])
    let minimum = try node.required("min").number()
    return Revenue(
      minimum: minimum, maximum: try node["max"]?.number() ?? minimum, currency: try node.required("currency").text())
  }
}

extension SourceIdentifierSettings {
  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    unknown += node.unknownKeys(["campaigns", "adGroups", "creatives", "campaignIds"])
    place = node.path
    func table(_ name: String) throws(ConfigurationError) -> [String: String] {
      guard let table = try node[name]?.mapping() else { return [:] }
      var names: [String: String] = [:]
      for key in table.keys { names[key] = try table.required(key).text() }
      // A quoted and an unquoted key may have the same text, and keys may be lists or mappings.
      guard names.count == table.size else { throw ConfigurationError(table.path, "must have digits in quotes as keys, each once") }
      return names
    }
    campaigns = try table("campaigns")
    adGroups = try table("adGroups")
    creatives = try table("creatives")
    var ids: [Int: String] = [:]
    for (key, name) in try table("campaignIds") {
      guard let id = Int(key) else { throw ConfigurationError("\(node.path).campaignIds", "must have 1 to 100 as keys; \(key) is not one") }
      guard ids.updateValue(name, forKey: id) == nil else {
        throw ConfigurationError("\(node.path).campaignIds", "names \(id) twice")
      }
    }
    campaignIds = ids
  }
}
