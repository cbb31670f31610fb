import WireJSON

/// How a typed postback shows a member of the body (``SKAdNetworkPostback/typed(foreign:)``, ``AdAttributionKitPostback/typed(foreign:)``).
enum PostbackMember {
  /// A field that came in Apple's JSON type.
  case unchanged
  /// A field whose JSON type or spelling may have been changed on the way, in Apple's.
  case bool(Bool)
  case integer(Int64)
  case text(String)
  /// An unsigned value that cannot be used (``UnsignedValues/unusable``). It is not shown.
  case unusable
  /// A member that is no field of the postback's version: somebody else than Apple added it, such as a timestamp or an address.
  case foreign

  /// The value that is shown; nil if none is.
  ///
  /// - Parameters:
  ///   - name: the member's name.
  ///   - received: the member's value in the body.
  ///   - foreign: the names of the foreign members that are shown; nil for all.
  func value(_ name: String, _ received: JSONValue, foreign: Set<String>?) -> JSONValue? {
    switch self {
    case .unchanged: received
    case .bool(let value): .bool(value)
    case .integer(let value): .integer(value)
    case .text(let value): .string(value)
    // `nil` would be a JSON null.
    case .unusable: .none
    case .foreign: foreign?.contains(name) ?? true ? .some(received) : .none
    }
  }
}
