/// The section `postbacks`: what events of postbacks contain.
public struct PostbackSettings: Sendable, Hashable {
  /// The maximum number of names in ``foreignMembers``, and the maximum length of one.
  static let maxNames = 100
  static let maxNameBytes = 128

  /// The names of foreign members that the events of verified postbacks contain: members that somebody else than Apple added, such as a
  /// timestamp or an IP address, and fields of another version. Up to 100 names of 1 to 128 bytes; other foreign members are left out.
  public var foreignMembers: [String] = []

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    foreignMembers = try node["foreignMembers"]?.texts() ?? []
    guard foreignMembers.count <= Self.maxNames else {
      throw ConfigurationError("\(node.path).foreignMembers", "must have at most \(Self.maxNames) names")
    }
    for (index, name) in foreignMembers.enumerated() where !(1...Self.maxNameBytes).contains(name.utf8.count) {
      throw ConfigurationError("\(node.path).foreignMembers[\(index)]", "must be 1 to \(Self.maxNameBytes) bytes")
    }
    unknown += node.unknownKeys(["foreignMembers"])
  }
}
