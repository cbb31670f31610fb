/// A way to discover the topology: from the nodes of a cluster, or from Sentinels.
protocol TopologyDiscovery: Sendable {
  /// The nodes to ask, given the known topology. The addresses in the URL are among them if nothing is known, or if none of the others
  /// answered.
  func voters(_ known: SlotMap?) -> [NodeAddress]
  /// The command that each of them gets.
  var question: [RedisArgument] { get }
  /// Parses a reply; nil if it is unusable.
  func read(_ reply: RedisReply, from teller: NodeAddress) -> SlotMap?
}

/// Asks the nodes of a cluster (`CLUSTER SLOTS`).
struct ClusterDiscovery: TopologyDiscovery {
  let seeds: [NodeAddress]
  /// The greatest number of nodes of a cluster that are asked.
  private static let maxVoters = 9

  var question: [RedisArgument] { ["CLUSTER", "SLOTS"] }

  func voters(_ known: SlotMap?) -> [NodeAddress] { known.map { Array($0.nodes.shuffled().prefix(Self.maxVoters)) } ?? seeds }

  func read(_ reply: RedisReply, from teller: NodeAddress) -> SlotMap? {
    guard let entries = reply.array, !entries.isEmpty else { return nil }
    var ranges: [SlotMap.Range] = []
    for entry in entries {
      guard let parts = entry.array, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
        first >= 0, first <= last, last < Int64(HashSlot.count), let primary = Self.node(parts[2], teller)
      else { return nil }
      ranges.append(
        SlotMap.Range(
          slots: Int(first)...Int(last), primary: primary, replicas: parts.dropFirst(3).compactMap { Self.node($0, teller) }))
    }
    return SlotMap(ranges)
  }

  /// A node's endpoint: its address or host name, as the cluster prefers. Null or empty means that the node does not know it; then it is
  /// the address of the node that answered.
  private static func node(_ reply: RedisReply, _ teller: NodeAddress) -> NodeAddress? {
    guard let parts = reply.array, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port) else { return nil }
    let host = parts[0].string ?? ""
    return NodeAddress(host: host.isEmpty || host == "?" ? teller.host : host, port: Int(port))
  }
}

/// Asks Sentinels for the primary (`SENTINEL GET-MASTER-ADDR-BY-NAME`).
struct SentinelDiscovery: TopologyDiscovery {
  let sentinels: [NodeAddress]
  /// The Sentinels' name for the primary.
  let name: String

  var question: [RedisArgument] { ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name)] }

  func voters(_ known: SlotMap?) -> [NodeAddress] { sentinels }

  func read(_ reply: RedisReply, from teller: NodeAddress) -> SlotMap? {
    guard let parts = reply.array, parts.count == 2, let host = parts[0].string, !host.isEmpty, let port = parts[1].integer,
      (1...65_535).contains(port)
    else { return nil }
    return SlotMap(primary: NodeAddress(host: host, port: Int(port)))
  }
}
