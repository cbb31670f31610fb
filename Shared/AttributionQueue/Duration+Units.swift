extension Duration {
  /// Whole milliseconds.
  public var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
  /// Whole seconds, as Redis takes expiries.
  public var wholeSeconds: Int64 { Int64(self / .seconds(1)) }
}
