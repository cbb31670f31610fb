import Cryptography
import WireJSON

/// Reads a JSON object of a request for Apple field by field. Each method throws ``RequestRefusal``, which names the field by its path.
/// Methods whose names begin with `required` throw for an absent field too; the others return nil for it.
struct RequestFields {
  let object: JSONObject
  /// The path of the object: empty, or such as `items[0]`.
  let path: String

  init(_ object: JSONObject, path: String = "") {
    self.object = object
    self.path = path
  }

  /// The path of a field of this object.
  func path(of field: String) -> String { path.isEmpty ? field : path + "." + field }

  func refusal(_ field: String, _ reason: String) -> RequestRefusal { RequestRefusal(field: path(of: field), reason) }

  /// Throws for a field with another name. Apple would ignore a misspelled field.
  func allow(_ names: Set<String>) throws(RequestRefusal) {
    for key in object.keys where !names.contains(key) { throw refusal(key, "is not a field of this request") }
  }

  /// A text of 1 to `maxLength` characters; nil if it is absent.
  func text(_ field: String, maxLength: Int) throws(RequestRefusal) -> String? {
    guard let value = object[field] else { return nil }
    guard let text = value.stringValue else { throw refusal(field, "must be text") }
    guard !text.isEmpty else { throw refusal(field, "must not be empty") }
    // Apple does not say what it counts. Swift counts grapheme clusters, which gives the smallest number, so that nothing is refused that
    // Apple would accept.
    guard text.count <= maxLength else { throw refusal(field, "is longer than \(maxLength) characters") }
    return text
  }

  func requiredText(_ field: String, maxLength: Int) throws(RequestRefusal) -> String {
    guard let text = try text(field, maxLength: maxLength) else { throw refusal(field, "is missing") }
    return text
  }

  /// One of the given texts; nil if it is absent.
  func choice(_ field: String, _ choices: [String]) throws(RequestRefusal) -> String? {
    guard let value = object[field] else { return nil }
    guard let text = value.stringValue, choices.contains(text) else {
      throw refusal(field, "must be \(choices.dropLast().joined(separator: ", "))\(choices.count > 1 ? " or " : "")\(choices.last ?? "")")
    }
    return text
  }

  func requiredChoice(_ field: String, _ choices: [String]) throws(RequestRefusal) -> String {
    guard let text = try choice(field, choices) else { throw refusal(field, "is missing") }
    return text
  }

  /// A UUID; nil if it is absent.
  func uuid(_ field: String) throws(RequestRefusal) -> String? {
    guard let value = object[field] else { return nil }
    guard let text = value.stringValue, UUIDText.isValid(text) else { throw refusal(field, "must be a UUID") }
    return text
  }

  func requiredUUID(_ field: String) throws(RequestRefusal) -> String {
    guard let text = try uuid(field) else { throw refusal(field, "is missing") }
    return text
  }

  /// A Boolean; nil if it is absent.
  func bool(_ field: String) throws(RequestRefusal) -> Bool? {
    guard let value = object[field] else { return nil }
    guard let bool = value.boolValue else { throw refusal(field, "must be true or false") }
    return bool
  }

  func requiredBool(_ field: String) throws(RequestRefusal) -> Bool {
    guard let bool = try bool(field) else { throw refusal(field, "is missing") }
    return bool
  }

  /// A whole number of at least `min`; nil if it is absent.
  func integer(_ field: String, min: Int64) throws(RequestRefusal) -> Int64? {
    guard let value = object[field] else { return nil }
    guard let number = value.int64Value else { throw refusal(field, "must be a whole number") }
    guard number >= min else { throw refusal(field, "must be at least \(min)") }
    return number
  }

  func requiredInteger(_ field: String, min: Int64) throws(RequestRefusal) -> Int64 {
    guard let number = try integer(field, min: min) else { throw refusal(field, "is missing") }
    return number
  }

  /// A code of three capital letters, such as those of ISO 4217 and ISO 3166-1 alpha-3; nil if it is absent. `expected` describes the code
  /// in the error.
  func code(_ field: String, _ expected: String) throws(RequestRefusal) -> String? {
    guard let value = object[field] else { return nil }
    guard let text = value.stringValue, text.utf8.count == 3, text.utf8.allSatisfy({ (65...90).contains($0) }) else {
      throw refusal(field, "must be \(expected)")
    }
    return text
  }

  /// The country or region of a storefront; nil if it is absent.
  func storefront(_ field: String = "storefront") throws(RequestRefusal) -> String? {
    try code(field, "an ISO 3166-1 alpha-3 code, such as USA")
  }

  /// A currency; nil if it is absent.
  func currency(_ field: String = "currency") throws(RequestRefusal) -> String? {
    try code(field, "an ISO 4217 code, such as USD")
  }

  /// An inner object; nil if it is absent.
  func child(_ field: String) throws(RequestRefusal) -> RequestFields? {
    guard let value = object[field] else { return nil }
    guard let object = value.objectValue else { throw refusal(field, "must be an object") }
    return RequestFields(object, path: path(of: field))
  }

  func requiredChild(_ field: String) throws(RequestRefusal) -> RequestFields {
    guard let child = try child(field) else { throw refusal(field, "is missing") }
    return child
  }

  /// The objects of a list that must not be empty; nil if it is absent.
  func children(_ field: String) throws(RequestRefusal) -> [RequestFields]? {
    guard let value = object[field] else { return nil }
    guard let list = value.arrayValue else { throw refusal(field, "must be a list") }
    guard !list.isEmpty else { throw refusal(field, "must not be empty") }
    var children: [RequestFields] = []
    for (index, element) in list.enumerated() {
      guard let object = element.objectValue else { throw refusal("\(field)[\(index)]", "must be an object") }
      children.append(RequestFields(object, path: path(of: "\(field)[\(index)]")))
    }
    return children
  }

  func requiredChildren(_ field: String) throws(RequestRefusal) -> [RequestFields] {
    guard let children = try children(field) else { throw refusal(field, "is missing") }
    return children
  }
}
