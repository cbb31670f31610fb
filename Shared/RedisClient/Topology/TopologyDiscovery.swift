/// How the topology is asked for: of the nodes of a cluster, or of Sentinels.
protocol TopologyDiscovery: Sendable {
  /// Who is asked, given what is known. Those that were named in the URL are among them where nothing is known, or where none of the others
  /// answered.
  func voters(_ known: SlotMap?) -> [NodeAddress]
  /// What each is asked.
  var question: [RedisArgument] { get }
  /// What an answer says; nil where it says nothing that can be used.
  func read(_ reply: RedisReply, from teller: NodeAddress) -> SlotMap?
}

/// Asks the nodes of a cluster (`CLUSTER SLOTS`).
struct ClusterDiscovery: TopologyDiscovery {
  let seeds: [NodeAddress]
  /// Of a large cluster so many are asked at most.
  private static let mostVoters = 9

  var question: [RedisArgument] { ["CLUSTER", "SLOTS"] }

  func voters(_ known: SlotMap?) -> [NodeAddress] { known.map { Array($0.nodes.shuffled().prefix(Self.mostVoters)) } ?? seeds }

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

  /// A node's endpoint: its address or host name, as the cluster prefers; null or empty where the node does not know it: then it is the
  /// one that the question was sent to.
  private static func node(_ reply: RedisReply, _ teller: NodeAddress) -> NodeAddress? {
    guard let parts = reply.array, parts.count >= 2, let port = parts[1].integer, (1...65_535).contains(port) else { return nil }
    let host = parts[0].string ?? ""
    return NodeAddress(host: host.isEmpty || host == "?" ? teller.host : host, port: Int(port))
  }
}

/// Asks Sentinels for the primary (`SENTINEL GET-MASTER-ADDR-BY-NAME`).
struct SentinelDiscovery: TopologyDiscovery {
  let sentinels: [NodeAddress]
  /// What the Sentinels call the primary.
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
