/// An error reply that means that the command was not executed, and must be sent to another node or again later.
enum Redirection: Sendable, Hashable {
  /// The slot belongs to another node (`MOVED`).
  case moved(HashSlot, to: NodeAddress)
  /// The slot is being moved to the other node, and the present node does not have the key (`ASK`). The other node has it, or nobody has.
  case ask(NodeAddress)
  /// The slot is being moved, and some of the command's keys are on each node (`TRYAGAIN`).
  case tryAgain
  /// The node cannot serve the command now: it is a replica (`READONLY`), is loading its data (`LOADING`) or has lost its primary
  /// (`MASTERDOWN`), or the cluster has lost nodes (`CLUSTERDOWN`). The topology is likely to change. With the text of the reply.
  case unsettled(String)

  /// Nil for any other error reply.
  init?(errorReply text: String, from node: NodeAddress) {
    let fields = text.split(separator: " ", maxSplits: 3)
    switch fields.first {
    case "MOVED", "ASK":
      guard fields.count >= 3, let slot = Int(fields[1]).flatMap(HashSlot.init(number:)),
        let target = NodeAddress(text: fields[2], answeredBy: node)
      else { return nil }
      self = fields[0] == "ASK" ? .ask(target) : .moved(slot, to: target)
    case "TRYAGAIN": self = .tryAgain
    case "CLUSTERDOWN", "READONLY", "LOADING", "MASTERDOWN": self = .unsettled(text)
    default: return nil
    }
  }

  /// True for an error reply that is normal while slots move (`MOVED`, `ASK`, `TRYAGAIN`). It does not count as a failure.
  static func isRoutingReply(_ text: String) -> Bool { ["MOVED ", "ASK ", "TRYAGAIN "].contains { text.hasPrefix($0) } }

  /// The label in metrics (``RedisObserver/redirected(_:)``).
  var kind: String {
    switch self {
    case .moved: "moved"
    case .ask: "ask"
    case .tryAgain: "try_again"
    case .unsettled: "unsettled"
    }
  }
}
