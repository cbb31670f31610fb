/// Decides which traces are recorded.
public struct Sampler: Sendable, Hashable {
  /// True if a caller's decision about its trace is followed. Then ``ratio`` is only for traces that begin here.
  public var followsParent: Bool
  /// The ratio of traces that are recorded, from 0 to 1. If ``followsParent`` is false, it is for callers' traces too.
  public var ratio: Double {
    didSet { limit = Self.limit(ratio) }
  }
  /// A trace is recorded if the last 56 bits of its id are less than this.
  private var limit: UInt64

  public init(followsParent: Bool = true, ratio: Double) {
    self.followsParent = followsParent
    self.ratio = ratio
    limit = Self.limit(ratio)
  }

  /// The number of values of the last 56 bits of an id, which are random by W3C Trace Context (level 2).
  private static let randomValues: UInt64 = 1 << 56

  private static func limit(_ ratio: Double) -> UInt64 { UInt64(max(0, min(1, ratio)) * Double(randomValues)) }

  /// True if the trace is recorded. This depends only on its id, so that all services with the same ratio decide alike.
  func samples(_ trace: TraceID) -> Bool { trace.low & (Self.randomValues - 1) < limit }
}
