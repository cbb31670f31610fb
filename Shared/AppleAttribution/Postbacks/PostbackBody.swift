import WireJSON

/// Parses the body of a postback.
enum PostbackBody {
  /// The body as a JSON object. Throws `malformed`.
  static func object(_ body: [UInt8]) throws(PostbackRejection) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: body)
    } catch {
      throw PostbackRejection(.malformed, field: error.path.isEmpty ? nil : error.path, error.reason)
    }
    guard case .object(let object) = value else { throw PostbackRejection(.malformed, "the body must be a JSON object") }
    return object
  }
}
