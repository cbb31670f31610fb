import WireJSON

/// How a gap ended: verifier's word to those who looked it up (queue `gaps`).
public struct GapSettlement: Sendable, Hashable {
  /// The kind of the queue's message.
  public static let kind = "gap-settled"

  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Notifications that came since explain it.
    case recovered
    /// None does: the state was asked for at Apple, where Apple knew one.
    case unrecoverable
  }

  /// ``GapReport/key``.
  public let key: String
  public let state: State
  /// `notifications` or `status`; nil when nothing mended the state.
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

  /// As a queue carries it.
  public var body: [UInt8] {
    var object: JSONObject = ["key": .string(key), "state": .string(state.rawValue)]
    object["repairedBy"] = repairedBy.map { .string($0) }
    object["observedState"] = observedState.map { .string($0) }
    object["reason"] = reason.map { .string($0) }
    return JSONValue.object(object).serialized
  }

  /// Reads that form; nil for anything else.
  public init?(body: [UInt8]) {
    guard let object = try? JSONValue(parsing: body).objectValue, let key = object["key"]?.stringValue,
      let state = object["state"]?.stringValue.flatMap(State.init)
    else { return nil }
    self.init(
      key: key, state: state, repairedBy: object["repairedBy"]?.stringValue, observedState: object["observedState"]?.stringValue,
      reason: object["reason"]?.stringValue)
  }
}
