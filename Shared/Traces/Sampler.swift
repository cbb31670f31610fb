/// Decides which traces are recorded.
public struct Sampler: Sendable, Hashable {
  /// True if a caller's decision is followed.
  public var followsParent: Bool
  /// The share of traces beginning here that are recorded, 0 to 1.
  public var ratio: Double {
    didSet { bound = Self.bound(ratio) }
  }
  /// A trace is recorded if the last 56 bits of its id are below this bound.
  private var bound: UInt64

  public init(followsParent: Bool = true, ratio: Double) {
    self.followsParent = followsParent
    self.ratio = ratio
    bound = Self.bound(ratio)
  }

  private static let randomBits: UInt64 = 1 << 56

  private static func bound(_ ratio: Double) -> UInt64 { UInt64(max(0, min(1, ratio)) * Double(randomBits)) }

  /// The decision depends only on the id, so that all services decide alike.
  func samples(_ trace: TraceID) -> Bool { trace.low & (Self.randomBits - 1) < bound }
}
