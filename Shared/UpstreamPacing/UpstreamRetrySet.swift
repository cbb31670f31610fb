/// Work that failed because of an upstream and waits for its retry. It is remembered so that it can be retried at once when the upstream has
/// recovered.
///
/// The upstream counts as recovered when its circuit closes, or when calls succeed and none has failed for a while: a few failures do not open the
/// circuit, and their retries may be far away. It has no clock: times are milliseconds of a monotonic clock.
public struct UpstreamRetrySet<Element: Sendable & Hashable>: Sendable {
  /// How long none may have failed, milliseconds.
  public let calm: Int64
  /// The most that is remembered; the oldest are left to their schedules.
  public let bound: Int

  private var elements: [Element] = []
  private var lastFailure: Int64 = .min
  private var lastTrial: Int64 = .min

  public init(calm: Int64, bound: Int) {
    self.calm = calm
    self.bound = max(1, bound)
  }

  public var isEmpty: Bool { elements.isEmpty }

  /// A call for it failed.
  public mutating func add(_ element: Element, now: Int64) {
    lastFailure = now
    elements.removeAll { $0 == element }
    elements.append(element)
    if elements.count > bound { elements.removeFirst(max(1, bound / 10)) }
  }

  /// A call succeeded; what need not wait any longer. `closesCircuit`: whether it is what a circuit that was open waited for.
  public mutating func succeeded(closesCircuit: Bool, now: Int64) -> [Element] {
    guard closesCircuit || isCalm(now) else { return [] }
    defer { elements = [] }
    return elements
  }

  /// One to find out with whether the upstream is back, where nobody else calls it: the youngest, and no more than one in ``calm``.
  public mutating func trial(now: Int64) -> Element? {
    guard !elements.isEmpty, isCalm(now), lastTrial == .min || now - lastTrial >= calm else { return nil }
    lastTrial = now
    return elements.popLast()
  }

  /// The youngest, whatever the time: in place of one that waits no longer.
  public mutating func popYoungest() -> Element? { elements.popLast() }

  private func isCalm(_ now: Int64) -> Bool { lastFailure == .min || now - lastFailure >= calm }
}
