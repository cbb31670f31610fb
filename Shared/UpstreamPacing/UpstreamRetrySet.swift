/// Work that failed because of an upstream and waits for its retry. It is remembered so that it can be retried at once when the upstream
/// has recovered.
///
/// The upstream counts as recovered when its circuit closes, or when calls succeed and none has failed for a while: a few failures do not
/// open the circuit, and their retries may be far away. It has no clock: times are milliseconds of a monotonic clock.
public struct UpstreamRetrySet<Element: Sendable & Hashable>: Sendable {
  /// The time without failures after which the upstream counts as recovered, milliseconds.
  public let calm: Int64
  /// The greatest number of elements. Beyond it the oldest are dropped, and are retried by their schedules.
  public let maxElements: Int

  private var elements: [Element] = []
  private var lastFailure: Int64 = .min
  private var lastTrial: Int64 = .min

  public init(calm: Int64, maxElements: Int) {
    self.calm = calm
    self.maxElements = max(1, maxElements)
  }

  public var isEmpty: Bool { elements.isEmpty }

  /// Adds an element whose call failed.
  public mutating func add(_ element: Element, now: Int64) {
    lastFailure = now
    elements.removeAll { $0 == element }
    elements.append(element)
    if elements.count > maxElements { elements.removeFirst(max(1, maxElements / 10)) }
  }

  /// Records a successful call. Returns the elements to retry at once. `closesCircuit`: true if this call closed an open circuit.
  public mutating func succeeded(closesCircuit: Bool, now: Int64) -> [Element] {
    guard closesCircuit || isCalm(now) else { return [] }
    defer { elements = [] }
    return elements
  }

  /// The youngest element, to test whether the upstream has recovered if there are no other calls. At most one within ``calm``.
  public mutating func trial(now: Int64) -> Element? {
    guard !elements.isEmpty, isCalm(now), lastTrial == .min || now - lastTrial >= calm else { return nil }
    lastTrial = now
    return elements.popLast()
  }

  /// The youngest element, at any time: a replacement for one that no longer waits.
  public mutating func popYoungest() -> Element? { elements.popLast() }

  private func isCalm(_ now: Int64) -> Bool { lastFailure == .min || now - lastFailure >= calm }
}
