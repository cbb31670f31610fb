/// An error reply that says where or when to send the command again. The command was not executed.
enum Redirection: Sendable, Hashable {
  /// The slot belongs to another node (`MOVED`).
  case moved(HashSlot, to: NodeAddress)
  /// The slot is being moved, and this key is on the other node already (`ASK`).
  case ask(NodeAddress)
  /// The slot is being moved, and the command's keys are on both nodes (`TRYAGAIN`).
  case tryAgain
  /// The node is a replica now, or still loads its data, or the cluster has lost nodes: the topology will change.
  case unsettled(String)

  /// Nil for any other error reply.
  init?(refusal text: String, by node: NodeAddress) {
    let words = text.split(separator: " ", maxSplits: 3)
    switch words.first {
    case "MOVED", "ASK":
      guard words.count >= 3, let slot = Int(words[1]).flatMap(HashSlot.init(number:)),
        let target = NodeAddress(text: words[2], answeredBy: node)
      else { return nil }
      self = words[0] == "ASK" ? .ask(target) : .moved(slot, to: target)
    case "TRYAGAIN": self = .tryAgain
    case "CLUSTERDOWN", "READONLY", "LOADING", "MASTERDOWN": self = .unsettled(text)
    default: return nil
    }
  }

  /// True if the error reply is normal while slots move and does not count as a failure.
  static func isElsewhere(_ text: String) -> Bool { ["MOVED ", "ASK ", "TRYAGAIN "].contains { text.hasPrefix($0) } }

  /// The label in metrics.
  var kind: String {
    switch self {
    case .moved: "moved"
    case .ask: "ask"
    case .tryAgain: "try_again"
    case .unsettled: "unsettled"
    }
  }
}
