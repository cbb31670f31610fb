/// The section `edge`: the access rules and rate limits of the public port. `PublicEdgeGuard.swift` applies them.
public struct EdgeSettings: Sendable, Hashable {
  /// Apple's own network, from which its servers call.
  public static let apple = "17.0.0.0/8"

  /// The trusted proxies in front of the service, and the header in which they name their client.
  public var proxies = TrustedProxies()
  /// The listeners on which the proxies' connections begin with a header of the PROXY protocol.
  public var proxyProtocol: Set<Listener> = []
  /// The addresses that may use each kind of route. Every address may use a kind that is not listed.
  public var allowed: [String: [AddressRange]] = [:]
  /// The maximum rate of requests of one address, or of one /64 of IPv6; no limit unless it is set.
  public var peerRate: RequestRate?
  /// The maximum rate of notifications and requests for retention messages from one of Apple's addresses; no limit unless it is set. These
  /// requests do not count for `peerRate`.
  public var appStoreRate: RequestRate?
  /// The maximum number of addresses whose rates are counted at the same time.
  public var peers = 65_536
  /// The maximum number of open connections of one address, or of one /64 of IPv6; 0 for no limit.
  public var peerConnections = 0
  /// The maximum size of the unanswered bodies of one address, or of one /64 of IPv6, in bytes; 0 for no limit.
  public var peerBodyMemory = 0

  public init() {}

  /// One of the ports of a service.
  public enum Listener: String, Sendable, CaseIterable {
    case `public`, `internal`
  }

  /// The peers whose connections to that listener begin with a header of the PROXY protocol.
  func proxies(of listener: Listener) -> [AddressRange] { proxyProtocol.contains(listener) ? proxies.ranges : [] }
}

extension EdgeSettings {
  /// The kinds of public routes that an allow list may name.
  public static let kinds = ["postback", "signed-payload", "notification", "token", "session", "att-status", "retention"]
  /// The kinds of public routes that only the App Store calls.
  static let appStoreKinds: Set = ["notification", "retention"]

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    unknown += node.unknownKeys([
      "trustedProxies", "proxyProtocol", "forwardedHeader", "allow", "peerRate", "appStoreRate", "peers", "peerConnections",
      "peerBodyMemory",
    ])
    proxies.ranges = try Self.ranges(node["trustedProxies"])
    if let listeners = node["proxyProtocol"] { proxyProtocol = try Self.listeners(listeners, hasTrustedProxies: !proxies.ranges.isEmpty) }
    if let header = node["forwardedHeader"] {
      let name = try header.text()
      guard let known = TrustedProxies.Header.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() }) else {
        throw ConfigurationError(header.path, "must be X-Forwarded-For or Forwarded")
      }
      proxies.header = known
    }
    if let allow = try node["allow"]?.mapping() {
      for kind in allow.keys {
        guard Self.kinds.contains(kind) else {
          throw ConfigurationError("\(allow.path).\(kind)", "is not a kind of route; the kinds are: \(Self.kinds.joined(separator: ", "))")
        }
        let list = try allow.required(kind)
        allowed[kind] = try Self.ranges(list)
        // An empty list is most likely a mistake.
        guard allowed[kind]?.isEmpty == false else { throw ConfigurationError(list.path, "is empty, which would refuse every request") }
      }
    }
    peerRate = try node["peerRate"].map { rate throws(ConfigurationError) in try RequestRate(rate, &unknown) }
    appStoreRate = try node["appStoreRate"].map { rate throws(ConfigurationError) in try RequestRate(rate, &unknown) }
    try node.count("peers", 512...1 << 26, &peers)
    try node.count("peerConnections", 0...1 << 26, &peerConnections)
    try node.count("peerBodyMemory", 0...1 << 40, &peerBodyMemory)
  }

  private static func listeners(_ node: ConfigurationNode, hasTrustedProxies: Bool) throws(ConfigurationError) -> Set<Listener> {
    var listeners: Set<Listener> = []
    for name in try node.texts() {
      guard let listener = Listener(rawValue: name) else { throw ConfigurationError(node.path, "must be public, internal or both") }
      listeners.insert(listener)
    }
    guard hasTrustedProxies || listeners.isEmpty else {
      throw ConfigurationError(node.path, "needs trustedProxies, the only senders from which the header is accepted")
    }
    return listeners
  }

  /// Reads one range or a list of ranges. The text `apple` stands for Apple's own network.
  private static func ranges(_ node: ConfigurationNode?) throws(ConfigurationError) -> [AddressRange] {
    guard let node else { return [] }
    var ranges: [AddressRange] = []
    for (index, text) in try node.texts().enumerated() {
      do throws(AddressError) { ranges.append(try AddressRange(validating: text == "apple" ? apple : text)) } catch {
        throw ConfigurationError("\(node.path)[\(index)]", error.description)
      }
    }
    return ranges
  }
}

extension RequestRate {
  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    unknown += node.unknownKeys(["perSecond", "burst"])
    let rate = try node.required("perSecond")
    let perSecond = try rate.number()
    guard perSecond > 0, perSecond <= 1e9 else { throw ConfigurationError(rate.path, "must be more than 0 and at most 1000000000") }
    var burst = max(1, Int(perSecond.rounded(.up)))
    if let number = node["burst"] {
      let count = try number.integer()
      guard (1...1_000_000_000).contains(count) else { throw ConfigurationError(number.path, "must be 1 to 1000000000") }
      burst = Int(count)
    }
    self.init(perSecond: perSecond, burst: burst)
  }
}
