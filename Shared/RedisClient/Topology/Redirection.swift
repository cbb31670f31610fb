/// A refusal that says where or when a command may be sent again. The command was not executed.
enum Redirection: Sendable, Hashable {
  /// The slot belongs to another node for good.
  case moved(HashSlot, to: NodeAddress)
  /// The slot is on its way to another node, and so is this key.
  case ask(NodeAddress)
  /// The slot is on its way, and the command's keys are partly here and partly there.
  case tryAgain
  /// The node is a replica now, or still loads its data, or the cluster has lost nodes: another topology will come.
  case unsettled(String)

  /// Nil for any other refusal.
  init?(refusal text: String, by node: NodeAddress) {
    let words = text.split(separator: " ", maxSplits: 3)
    switch words.first {
    case "MOVED", "ASK":
      guard words.count >= 3, let slot = Int(words[1]).flatMap(HashSlot.init(number:)),
        let target = NodeAddress(text: words[2], toldBy: node)
      else { return nil }
      self = words[0] == "ASK" ? .ask(target) : .moved(slot, to: target)
    case "TRYAGAIN": self = .tryAgain
    case "CLUSTERDOWN", "READONLY", "LOADING", "MASTERDOWN": self = .unsettled(text)
    default: return nil
    }
  }

  /// Whether a refusal is normal while slots move, and does not count as a failure.
  static func isElsewhere(_ text: String) -> Bool { ["MOVED ", "ASK ", "TRYAGAIN "].contains { text.hasPrefix($0) } }

  /// A word for it in metrics.
  var kind: String {
    switch self {
    case .moved: "moved"
    case .ask: "ask"
    case .tryAgain: "try_again"
    case .unsettled: "unsettled"
    }
  }
}
