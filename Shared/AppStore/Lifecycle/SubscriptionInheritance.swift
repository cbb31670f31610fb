import WireJSON

/// The state of a subscription at its migration to another original transaction id (`MIGRATION`; `previousOriginalTransactionId`). The
/// history of the new id begins with this state, because the migration itself changes none. `SubscriptionLifecycle` in verifier gets it
/// from the history of the previous id and stores it in that of the new one (``SubscriptionHistory/recordContinuation(as:at:bundleId:)``).
public struct SubscriptionInheritance: Sendable, Hashable {
  /// The original transaction id before the migration.
  public let originalTransactionId: String
  /// The time of the migration, milliseconds since 1970.
  public let at: Int64
  /// The state before the migration; nil if it is unknown.
  let state: SubscriptionState?
  /// The number of steps that led to that state, including those under still earlier ids.
  let steps: Int

  /// True if this state is based on more than another one under the same id: its history has more steps, or, if it has as many, the
  /// migration is known to be earlier. The number of steps only grows, and the time of the migration only moves back.
  func isNewer(than other: SubscriptionInheritance) -> Bool { (steps, -at) > (other.steps, -other.at) }
}

extension SubscriptionInheritance {
  /// The stored format.
  var json: JSONObject {
    var object: JSONObject = [
      "originalTransactionId": .string(originalTransactionId), "at": .integer(at), "steps": .integer(Int64(steps)),
    ]
    object["state"] = state.map { .object($0.json) }
    return object
  }

  /// Parses the stored format; nil if it is invalid.
  init?(json object: JSONObject) {
    guard let id = object["originalTransactionId"]?.stringValue, let at = object["at"]?.int64Value, at > .min,
      let steps = object["steps"]?.int64Value.flatMap({ Int32(exactly: $0) })
    else { return nil }
    var state: SubscriptionState?
    if let value = object["state"] {
      guard let read = value.objectValue.flatMap({ SubscriptionState(json: $0) }) else { return nil }
      state = read
    }
    self.init(originalTransactionId: id, at: at, state: state, steps: Int(steps))
  }
}
