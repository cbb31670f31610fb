/// The wait of an install for the user's answer to the tracking prompt. What the app sends before the answer is held for a limited time.
///
/// The deadline is counted from the first held item and is not moved by later ones. After the deadline, the install does not wait again while
/// its status stays "not determined". After an answer it may, because the prompt may be shown again: the app was installed again with an id
/// that survived, or the user turned on the device's switch. Pure: times, in milliseconds since 1970, are passed in.
public struct ATTStatusWait: Sendable, Hashable {
  /// The longest wait, unless another one is configured, milliseconds.
  public static let maxMilliseconds: Int64 = 120_000

  /// The phase of the wait.
  public enum Phase: Sendable, Hashable {
    /// Nothing was held yet, or since the last answer.
    case notBegun
    /// Items are held until this time at the latest.
    case holding(until: Int64)
    /// The wait ended at its deadline. Nothing is held any more.
    case over
  }

  /// What to do with a received item.
  public enum Decision: Sendable, Hashable {
    case send
    case hold(until: Int64)
  }

  public private(set) var phase: Phase

  public init(phase: Phase = .notBegun) { self.phase = phase }

  /// Decides about an item that arrives.
  ///
  /// - Parameters:
  ///   - status: the install's status, including what this item reports.
  ///   - intervalSeconds: the session's `attConsentWaitingInterval`. Nil, zero and a negative number mean no wait.
  ///   - maxWait: the longest wait, milliseconds.
  public mutating func receive(
    status: ATTStatus, intervalSeconds: Int64?, now: Int64, maxWait: Int64 = maxMilliseconds
  ) -> Decision {
    tick(now: now)
    guard status == .notDetermined else {
      phase = .notBegun
      return .send
    }
    switch phase {
    case .holding(let deadline): return .hold(until: deadline)
    case .over: return .send
    case .notBegun:
      guard let intervalSeconds, intervalSeconds > 0 else { return .send }
      let wait = intervalSeconds > maxWait / 1000 ? maxWait : intervalSeconds * 1000
      phase = .holding(until: now + wait)
      return .hold(until: now + wait)
    }
  }

  /// Receives a status that comes without an item. Returns true if held items must be released now.
  public mutating func learn(_ status: ATTStatus, now: Int64) -> Bool {
    let wasHolding = if case .holding = phase { true } else { false }
    tick(now: now)
    guard status.isKnown, status != .notDetermined else { return wasHolding && phase == .over }
    phase = .notBegun
    return wasHolding
  }

  /// Lets the next item begin another wait, if the last one is over.
  mutating func allowAnother() {
    if phase == .over { phase = .notBegun }
  }

  /// Ends the wait at its deadline. Returns true if held items must be released now.
  @discardableResult
  public mutating func tick(now: Int64) -> Bool {
    guard case .holding(let deadline) = phase, now >= deadline else { return false }
    phase = .over
    return true
  }
}
