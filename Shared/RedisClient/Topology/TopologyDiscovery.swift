/// A way to discover the topology: from the nodes of a cluster, or from Sentinels.
protocol TopologyDiscovery: Sendable {
  /// The nodes to query: those of the known topology or, if it is nil, the addresses in the URL.
  func voters(_ known: SlotMap?) -> [NodeAddress]
  /// The command for each of these nodes.
  var command: [RedisArgument] { get }
  /// Parses the reply of a node; nil if it is unusable.
  func read(_ reply: RedisReply, from node: NodeAddress) -> SlotMap?
}

/// Queries the nodes of a cluster (`CLUSTER SLOTS`).
struct ClusterDiscovery: TopologyDiscovery {
  let seeds: [NodeAddress]
  /// The greatest number of nodes of a cluster that are queried.
  private static let maxVoters = 9

  var command: [RedisArgument] { ["CLUSTER", "SLOTS"] }

  func voters(_ known: SlotMap?) -> [NodeAddress] { known.map { Array($0.nodes.shuffled().prefix(Self.maxVoters)) } ?? seeds }

  func read(_ reply: RedisReply, from sender: NodeAddress) -> SlotMap? {
    guard let entries = reply.array, !entries.isEmpty else { return nil }
    var ranges: [SlotMap.Range] = []
    for entry in entries {
      guard let parts = entry.array, parts.count >= 3, let first = parts[0].integer, let last = parts[1].integer,
        first >= 0, first <= last, last < Int64(HashSlot.count), let primary = Self.node(parts[2], sender)
      else { return nil }
      ranges.append(
        SlotMap.Range(
          slots: Int(first)...Int(last), primary: primary, replicas: parts.dropFirst(3).compactMap { Self.node($0, sender) }))
    }
    return SlotMap(ranges)
  }

  /// A node's endpoint: its address or host name, as the cluster prefers. If the host is null, empty or unknown, it is that of the node
  /// that sent the reply (`sender`).
  private static func node(_ reply: RedisReply, _ sender: NodeAddress) -> NodeAddress? {
    guard let parts = reply.array, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port) else { return nil }
    let host = parts[0].string ?? ""
    return NodeAddress(host: host.isEmpty || host == "?" ? sender.host : host, port: Int(port))
  }
}

/// Queries Sentinels for the primary (`SENTINEL GET-MASTER-ADDR-BY-NAME`).
struct SentinelDiscovery: TopologyDiscovery {
  let sentinels: [NodeAddress]
  /// The Sentinels' name for the primary.
  let name: String

  var command: [RedisArgument] { ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", .string(name)] }

  /// The Sentinels, whatever the known topology.
  func voters(_ known: SlotMap?) -> [NodeAddress] { sentinels }

  func read(_ reply: RedisReply, from sender: NodeAddress) -> SlotMap? {
    guard let parts = reply.array, parts.count == 2, let host = parts[0].string, !host.isEmpty, let port = parts[1].integer,
      (1...65_535).contains(port)
    else { return nil }
    return SlotMap(primary: NodeAddress(host: host, port: Int(port)))
  }
}
