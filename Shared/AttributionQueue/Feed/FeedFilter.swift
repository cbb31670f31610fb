import WireJSON

/// Which events a subscription has: those that match every list that is not empty. An event that does not say what a list asks for does
/// not match it.
public struct FeedFilter: Sendable, Hashable {
  public let adNetworkIds: [String]
  /// By Apple id or by bundle id.
  public let apps: [String]
  /// In lower case.
  public let environments: [String]

  /// Sorted, each value once: the same filter is equal however it was written.
  public init(adNetworkIds: [String] = [], apps: [String] = [], environments: [String] = []) {
    self.adNetworkIds = Set(adNetworkIds).sorted()
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

  /// Whether an event of this type is wanted, by the same rule as `filter.lua`.
  ///
  /// - Parameters:
  ///   - types: event types; all when empty.
  ///   - names: see ``AppNames``.
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

  /// As scripts read it; empty when everything is wanted.
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

/// The apps that are configured, each by its bundle id and its Apple id: a filter that names an app by one finds events that name it by the
/// other.
public struct AppNames: Sendable {
  private var others: [String: String] = [:]

  public init(_ apps: [(bundleId: String, appAppleId: Int64?)] = []) {
    for app in apps {
      guard let appleId = app.appAppleId else { continue }
      others[app.bundleId] = String(appleId)
      others[String(appleId)] = app.bundleId
    }
  }

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
