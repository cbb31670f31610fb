import AppleAttribution
import WireJSON

extension PublicRequest {
  /// The body as a JSON object. Throws ``FieldError`` with the position of an error.
  func object() throws(FieldError) -> JSONObject {
    let value: JSONValue
    do { value = try JSONValue(parsing: body, limits: jsonLimits) } catch { throw FieldError(field: error.path, reason: error.reason) }
    guard case .object(let object) = value else { throw FieldError(field: "", reason: "must be a JSON object") }
    return object
  }
}
