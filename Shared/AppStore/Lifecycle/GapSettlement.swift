import WireJSON

/// The end of a gap, which verifier reports to notification-recovery (queue `gaps`).
public struct GapSettlement: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "gap-settled"

  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Notifications closed it.
    case recovered
    /// No notification closed it. The state is Apple's, if Apple knew one.
    case unrecoverable
  }

  /// ``GapReport/key``.
  public let key: String
  public let state: State
  /// `notifications` or `status`; nil if nothing repaired the state.
  public let repairedBy: String?
  /// The subscription's state afterwards.
  public let observedState: String?
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
