import WireJSON

/// What a subscription's life under one original transaction id had come to when it went on under another (`MIGRATION`;
/// `previousOriginalTransactionId`). The life under the new id begins with it.
public struct SubscriptionInheritance: Sendable, Hashable {
  /// The id before.
  public let originalTransactionId: String
  /// When it went on under the new id, milliseconds since 1970.
  public let at: Int64
  /// The state until then; nil while nothing is known of it.
  let state: SubscriptionState?
  /// How many steps it was made of, those of still earlier ids included.
  let steps: Int

  /// Whether this one knows more than another of the same id: steps only become more, and the moment is only moved back.
  func isNewer(than other: SubscriptionInheritance) -> Bool { (steps, -at) > (other.steps, -other.at) }
}

extension SubscriptionInheritance {
  /// The form in which it is kept.
  var json: JSONObject {
    var object: JSONObject = [
      "originalTransactionId": .string(originalTransactionId), "at": .integer(at), "steps": .integer(Int64(steps)),
    ]
    object["state"] = state.map { .object($0.json) }
    return object
  }

  /// Reads the form in which it is kept; nil for anything else.
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
