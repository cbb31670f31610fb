/// The limits of a document.
public struct JSONLimits: Sendable, Hashable {
  /// Levels of objects and arrays; at most 64.
  public var depth: Int
  /// Values in all: members, elements and the document itself.
  public var values: Int

  /// The limits for our own documents, such as events, which contain others' data at a deeper level, and more.
  public static let ownDocuments = JSONLimits(depth: 64, values: 1 << 20)

  public init(depth: Int = 32, values: Int = 20_000) {
    self.depth = min(depth, 64)
    self.values = values
  }
}
