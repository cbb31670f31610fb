/// The section `metrics`: who may read `/metrics`.
public struct MetricsSettings: Sendable, Hashable {
  /// The SHA-256 of the token that `/metrics` requires, as 64 hexadecimal digits. It may be a list of several while the token is being
  /// replaced. Without it, no token is required.
  public var tokenDigests: [[UInt8]] = []

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    tokenDigests = try node["tokenSHA256"]?.tokenDigests() ?? []
    // An empty list would require no token, although whoever wrote the key most likely expects that one is required.
    if let given = node["tokenSHA256"], tokenDigests.isEmpty {
      throw ConfigurationError(given.path, "is empty; leave the key out if no token is required")
    }
    unknown += node.unknownKeys(["tokenSHA256"])
  }
}
