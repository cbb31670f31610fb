import WireJSON

/// Parses a body as an object.
enum PostbackBody {
  static func object(_ body: [UInt8]) throws(PostbackRejection) -> JSONObject {
    let value: JSONValue
    do throws(JSONError) {
      value = try JSONValue(parsing: body)
    } catch {
      throw PostbackRejection(.malformed, field: error.path.isEmpty ? nil : error.path, error.reason)
    }
    guard case .object(let object) = value else { throw PostbackRejection(.malformed, "must be an object") }
    return object
  }
}
