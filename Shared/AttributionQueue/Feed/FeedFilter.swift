import WireJSON

/// The filter of a subscription. An event passes if it matches every non-empty list. An event without the attribute of a list does not
/// match it.
public struct FeedFilter: Sendable, Hashable {
  /// In lower case.
  public let adNetworkIds: [String]
  /// Apps by their Apple ids or their bundle ids.
  public let apps: [String]
  /// In lower case.
  public let environments: [String]

  /// Values are sorted and unique, so that equal filters compare equal however they were written.
  public init(adNetworkIds: [String] = [], apps: [String] = [], environments: [String] = []) {
    self.adNetworkIds = Set(adNetworkIds.map(\.asciiLowercased)).sorted()
    self.apps = Set(apps).sorted()
    self.environments = Set(environments.map { $0.lowercased() }).sorted()
  }

  public var isEmpty: Bool { adNetworkIds.isEmpty && apps.isEmpty && environments.isEmpty }

  var json: JSONObject {
    [
      "adNetworkIds": .array(adNetworkIds.map { .string($0) }), "apps": .array(apps.map { .string($0) }),
      "environments": .array(environments.map { .string($0) }),
    ]
  }

  init(json: JSONValue?) {
    func texts(_ name: String) -> [String] { json?[name]?.arrayValue?.compactMap(\.stringValue) ?? [] }
    self.init(adNetworkIds: texts("adNetworkIds"), apps: texts("apps"), environments: texts("environments"))
  }

  /// True if an event of this type passes, by the same rule as filter.lua.
  ///
  /// - Parameters:
  ///   - types: event types; all when empty.
  ///   - names: the configured apps.
  public func wants(_ attributes: EventAttributes, type: String, types: [String], names: AppNames = AppNames()) -> Bool {
    guard types.isEmpty || types.contains(type) else { return false }
    if !adNetworkIds.isEmpty {
      guard let id = attributes.adNetworkId, adNetworkIds.contains(id) else { return false }
    }
    if !apps.isEmpty {
      let wanted = names.all(of: apps)
      let isWanted = attributes.bundleId.map(wanted.contains) == true || attributes.appAppleId.map { wanted.contains(String($0)) } == true
      guard isWanted else { return false }
    }
    return environments.isEmpty || attributes.environment.map(environments.contains) == true
  }

  /// The filter in MessagePack, as filter.lua reads it; empty if everything passes.
  func packed(types: [String], names: AppNames) -> [UInt8] {
    guard !isEmpty || !types.isEmpty else { return [] }
    var pack = MessagePackWriter()
    pack.beginMap()
    pack.put("types", list: types)
    pack.put("adNetworkIds", list: adNetworkIds)
    pack.put("apps", list: names.all(of: apps).sorted())
    pack.put("environments", list: environments)
    pack.end()
    return pack.bytes
  }
}

/// The configured apps by bundle id and Apple id, so that a filter with one of them finds events with the other.
public struct AppNames: Sendable {
  /// For each bundle id the Apple id, and for each Apple id the bundle id.
  private var others: [String: String] = [:]

  public init(_ apps: [(bundleId: String, appAppleId: Int64?)] = []) {
    for app in apps {
      guard let appleId = app.appAppleId else { continue }
      others[app.bundleId] = String(appleId)
      others[String(appleId)] = app.bundleId
    }
  }

  /// The given ids, and the other ids of the same apps.
  func all(of apps: [String]) -> Set<String> { Set(apps + apps.compactMap { others[$0] }) }
}

extension MessagePackWriter {
  /// A list of texts, left out when it is empty.
  fileprivate mutating func put(_ name: StaticString, list: [String]) {
    guard !list.isEmpty else { return }
    key(name)
    beginList()
    for text in list {
      element()
      string(text)
    }
    end()
  }
}
