/// How much of a document is read before it is refused (`rpc-protocol.md` section 6).
public struct JSONLimits: Sendable, Hashable {
  /// Levels of objects and arrays; at most 64.
  public var depth: Int
  /// Values in all: members, elements and the document itself.
  public var values: Int

  /// For what we wrote ourselves, an event above all: it holds what a stranger sent some levels deeper than he sent it, and more beside.
  public static let ownDocuments = JSONLimits(depth: 64, values: 1 << 20)

  public init(depth: Int = 32, values: Int = 20_000) {
    self.depth = min(depth, 64)
    self.values = values
  }
}
