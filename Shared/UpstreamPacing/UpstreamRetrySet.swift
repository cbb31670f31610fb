/// Work that failed because of an upstream and waits for its scheduled retry. The set remembers it, so that it can be retried at once when
/// the upstream has recovered.
///
/// The upstream counts as recovered when its circuit breaker closes, or when a call succeeds and none has failed for ``quietPeriod``. The
/// second rule is needed because a few failures do not open the breaker, and their scheduled retries may be much later. Times are passed
/// in, in milliseconds of a monotonic clock.
public struct UpstreamRetrySet<Element: Sendable & Hashable>: Sendable {
  /// The time in milliseconds without failures after which the upstream counts as recovered.
  public let quietPeriod: Int64
  /// The greatest number of elements. When there are more, the oldest are removed. They are then only retried by their schedules.
  public let maxElements: Int

  private var elements: [Element] = []
  private var lastFailure: Int64 = .min
  /// The time of the last call of ``popForTrial(now:)`` that returned an element.
  private var lastTrial: Int64 = .min

  public init(quietPeriod: Int64, maxElements: Int) {
    self.quietPeriod = quietPeriod
    self.maxElements = max(1, maxElements)
  }

  public var isEmpty: Bool { elements.isEmpty }

  /// Adds an element whose call has failed, as the newest.
  public mutating func add(_ element: Element, now: Int64) {
    lastFailure = now
    elements.removeAll { $0 == element }
    elements.append(element)
    if elements.count > maxElements { elements.removeFirst(max(1, maxElements / 10)) }
  }

  /// Records a successful call. If it shows that the upstream has recovered, removes and returns all elements, which should be retried at
  /// once.
  ///
  /// - Parameter closesCircuit: true if the circuit breaker has closed.
  public mutating func succeeded(closesCircuit: Bool, now: Int64) -> [Element] {
    guard closesCircuit || isQuiet(now) else { return [] }
    defer { elements = [] }
    return elements
  }

  /// Removes and returns the newest element, for a call that tests whether the upstream has recovered when there are no other calls. Nil if
  /// there was such an element, or a failure, less than ``quietPeriod`` ago.
  public mutating func popForTrial(now: Int64) -> Element? {
    guard !elements.isEmpty, isQuiet(now), lastTrial == .min || now - lastTrial >= quietPeriod else { return nil }
    lastTrial = now
    return elements.popLast()
  }

  /// Removes and returns the newest element at any time, for example because the previous one does not wait any more.
  public mutating func popNewest() -> Element? { elements.popLast() }

  private func isQuiet(_ now: Int64) -> Bool { lastFailure == .min || now - lastFailure >= quietPeriod }
}
