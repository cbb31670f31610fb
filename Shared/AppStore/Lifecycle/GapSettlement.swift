import WireJSON

/// The end of a gap (``GapReport``). Verifier reports it to notification-recovery (queue `gaps`).
public struct GapSettlement: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "gap-settled"

  /// How the gap ended.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Notifications closed the gap.
    case recovered
    /// No notification closed the gap. The subscription's state was set to Apple's status, if Apple knew the subscription.
    case unrecoverable
  }

  /// ``GapReport/key``.
  public let key: String
  public let state: State
  /// What repaired the subscription's state: `notifications` or `status`; nil if nothing did.
  public let repairedBy: String?
  /// The subscription's status afterwards.
  public let observedState: String?
  /// Why the state was not set to Apple's status: Apple could not be asked, does not know the subscription, or its data is invalid. Nil
  /// otherwise.
  public let reason: String?

  public init(key: String, state: State, repairedBy: String?, observedState: String?, reason: String? = nil) {
    self.key = key
    self.state = state
    self.repairedBy = repairedBy
    self.observedState = observedState
    self.reason = reason
  }

  /// The message's body.
  public var body: [UInt8] {
    var object: JSONObject = ["key": .string(key), "state": .string(state.rawValue)]
    object["repairedBy"] = repairedBy.map { .string($0) }
    object["observedState"] = observedState.map { .string($0) }
    object["reason"] = reason.map { .string($0) }
    return JSONValue.object(object).serialized
  }

  /// Parses a message's body; nil if it is invalid.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body).objectValue, let key = object["key"]?.stringValue,
      let state = object["state"]?.stringValue.flatMap(State.init)
    else { return nil }
    self.init(
      key: key, state: state, repairedBy: object["repairedBy"]?.stringValue, observedState: object["observedState"]?.stringValue,
      reason: object["reason"]?.stringValue)
  }
}
