import WireJSON

/// An answer, and the faults applied while it is sent.
struct SimulatedResponse: Sendable {
  enum Damage: Sendable {
    case none
    /// The connection is reset instead of an answer.
    case reset
    /// The connection is reset after half of the body.
    case cut
  }

  var status: Int
  var headers: [(name: String, value: String)] = []
  var body: [UInt8] = []
  var damage = Damage.none
  /// The delay before the answer, in real milliseconds.
  var delayMilliseconds: Double = 0

  static func json(_ value: JSONValue, status: Int = 200) -> SimulatedResponse {
    SimulatedResponse(status: status, headers: [("content-type", "application/json")], body: value.serialized)
  }

  static func empty(_ status: Int) -> SimulatedResponse { SimulatedResponse(status: status) }
}
