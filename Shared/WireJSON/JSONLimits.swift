/// The limits of a document.
public struct JSONLimits: Sendable, Hashable {
  /// The greatest number of nested objects and arrays. At most 64, because ``JSONReader`` has one bit for each level.
  public let depth: Int
  /// The greatest number of values: members, elements and the document itself.
  public let values: Int

  /// The limits for documents that this system wrote, such as events. They contain data of received documents at a deeper level, and other
  /// values beside it, so the limits must be greater.
  public static let ownDocuments = JSONLimits(depth: 64, values: 1 << 20)

  /// A `depth` greater than 64 is reduced to 64.
  public init(depth: Int = 32, values: Int = 20_000) {
    self.depth = min(depth, 64)
    self.values = values
  }
}
