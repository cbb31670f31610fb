/// Waiting for the user's answer to the tracking prompt: what an app sends before it is held, for a bounded time.
///
/// Pure: one value an install, times in milliseconds since 1970 passed in. The deadline is absolute, counted from the
/// first held item; a wait that ran out or was answered is not begun again.
public struct ATTStatusWait: Sendable, Hashable {
  /// The longest wait unless configured otherwise, in milliseconds.
  public static let maximumMilliseconds: Int64 = 120_000

  public enum Phase: Sendable, Hashable {
    /// Nothing was ever held for this install.
    case notBegun
    /// Items are held until this time at the latest.
    case holding(until: Int64)
    /// No more waiting for this install.
    case over
  }

  /// What to do with an item just received.
  public enum Decision: Sendable, Hashable {
    case send
    case hold(until: Int64)
  }

  public private(set) var phase: Phase

  public init(phase: Phase = .notBegun) { self.phase = phase }

  /// An item arrives.
  ///
  /// - Parameters:
  ///   - status: of the install, this item's own report already applied.
  ///   - intervalSeconds: the app's `attConsentWaitingInterval`; nil, zero and below mean no waiting.
  ///   - maximum: the longest wait, in milliseconds.
  public mutating func receive(
    status: ATTStatus, intervalSeconds: Int64?, now: Int64, maximum: Int64 = maximumMilliseconds
  ) -> Decision {
    tick(now: now)
    guard status == .notDetermined else {
      phase = .over
      return .send
    }
    switch phase {
    case .holding(let deadline): return .hold(until: deadline)
    case .over: return .send
    case .notBegun:
      guard let intervalSeconds, intervalSeconds > 0 else { return .send }
      let wait = intervalSeconds > maximum / 1000 ? maximum : intervalSeconds * 1000
      phase = .holding(until: now + wait)
      return .hold(until: now + wait)
    }
  }

  /// A status is learnt apart from any item. True when held items are to be released now.
  public mutating func learn(_ status: ATTStatus, now: Int64) -> Bool {
    let wasHolding = if case .holding = phase { true } else { false }
    tick(now: now)
    guard status.isKnown, status != .notDetermined else { return wasHolding && phase == .over }
    phase = .over
    return wasHolding
  }

  /// Time passes: at the deadline the wait is over. True when held items are to be released now.
  @discardableResult
  public mutating func tick(now: Int64) -> Bool {
    guard case .holding(let deadline) = phase, now >= deadline else { return false }
    phase = .over
    return true
  }
}
