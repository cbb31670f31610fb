import AttributionProtocol
import EventPush

/// The fields of an endpoint that a request removes (`UpdateEndpointRequest.clear`).
struct ClearedFields: OptionSet, Sendable {
  let rawValue: Int

  static let maxPerSecond = ClearedFields(rawValue: 1)
  static let maxConcurrent = ClearedFields(rawValue: 2)

  init(rawValue: Int) { self.rawValue = rawValue }

  /// - Parameters:
  ///   - names: the JSON names of the fields.
  ///   - push: the fields that the same request sets. A field must not be both set and removed.
  init(_ names: [String], beside push: PushEndpoint?) throws(RPCError) {
    self.init(rawValue: 0)
    for (index, name) in names.enumerated() {
      let (field, isSet) =
        switch name {
        case "maxPerSecond": (Self.maxPerSecond, push?.maxPerSecond != nil)
        case "maxConcurrent": (Self.maxConcurrent, push?.maxConcurrent != nil)
        default: throw .invalidArgument(field: "clear[\(index)]", "must be maxPerSecond or maxConcurrent")
        }
      guard !isSet else { throw .invalidArgument(field: "clear[\(index)]", "is also set by push.\(name)") }
      insert(field)
    }
  }

  /// Removes the fields from an endpoint's settings.
  func apply(to settings: inout EndpointSettings) {
    if contains(.maxPerSecond) { settings.maxPerSecond = nil }
    if contains(.maxConcurrent) { settings.maxConcurrent = nil }
  }
}
