import WireJSON

/// Reads the fields of a postback that Apple signs. Other JSON types than Apple's are accepted, because a server that forwards postbacks may
/// change them, but values are checked strictly. ``UnsignedValues`` reads the fields that are not signed.
///
/// `null` means absent. An integer may have a fraction of zero or an exponent, and may be a string; every digit counts. A Boolean may be 0,
/// 1, or one of the strings `true`, `false`, `1` and `0` in any letter case. Anything else is `malformed` with the field's name.
struct PostbackFields {
  let object: JSONObject

  init(_ object: JSONObject) { self.object = object }

  /// The value of a field; nil if it is absent or `null`.
  func value(_ name: String) -> JSONValue? {
    guard let value = object[name], !value.isNull else { return nil }
    return value
  }

  // MARK: Required

  func string(_ name: String) throws(PostbackRejection) -> String {
    guard let text = try optionalString(name) else { throw Self.missing(name) }
    return text
  }

  func integer(_ name: String, _ range: ClosedRange<Int64>) throws(PostbackRejection) -> Int64 {
    guard let value = try optionalInteger(name, range) else { throw Self.missing(name) }
    return value
  }

  func bool(_ name: String) throws(PostbackRejection) -> Bool {
    let value = value(name)
    switch value {
    case nil: throw Self.missing(name)
    case .bool(let value): return value
    case .number(let number) where number.int64 == 0: return false
    case .number(let number) where number.int64 == 1: return true
    default: break
    }
    switch value?.stringValue?.asciiLowercased {
    case "false", "0": return false
    case "true", "1": return true
    default: throw PostbackRejection(.malformed, field: name, "must be true or false")
    }
  }

  /// Two to four digits as text, because leading zeros count. A number is its digits: whether it had leading zeros, the signature shows,
  /// unless only one digit is left.
  func sourceIdentifier() throws(PostbackRejection) -> String {
    let name = "source-identifier"
    let text: String
    switch value(name) {
    case nil: throw Self.missing(name)
    case .string(let digits): text = digits
    case .number(let number): text = number.int64.map { String($0) } ?? ""
    default: throw PostbackRejection(.malformed, field: name, "must be a string of digits")
    }
    guard (2...4).contains(text.utf8.count), Self.isDigits(text) else {
      throw PostbackRejection(.malformed, field: name, "must be two, three or four digits")
    }
    return text
  }

  // MARK: Optional

  /// A text that is not empty. It must not contain U+2063, which separates the signed values of SKAdNetwork: with it, a part of one field
  /// could pass as another field.
  func optionalString(_ name: String) throws(PostbackRejection) -> String? {
    switch value(name) {
    case nil: return nil
    case .string(let text):
      guard !text.isEmpty else { throw PostbackRejection(.malformed, field: name, "is empty") }
      guard !text.unicodeScalars.contains(SignedText.separatorScalar) else {
        throw PostbackRejection(.malformed, field: name, "contains U+2063")
      }
      return text
    default: throw PostbackRejection(.malformed, field: name, "must be a string")
    }
  }

  func optionalInteger(_ name: String, _ range: ClosedRange<Int64>) throws(PostbackRejection) -> Int64? {
    guard let value = value(name) else { return nil }
    guard let number = Self.integer(value) else {
      throw PostbackRejection(.malformed, field: name, "must be a whole number that fits 64 bits")
    }
    guard range.contains(number) else { throw PostbackRejection(.malformed, field: name, "is out of range") }
    return number
  }

  /// A whole number, or a string with one; nil for any other value, and for a number that does not fit 64 bits.
  static func integer(_ value: JSONValue) -> Int64? {
    switch value {
    case .number(let number): number.int64
    case .string(let text): Int64(wholeNumber: text)
    default: nil
    }
  }

  static func missing(_ name: String) -> PostbackRejection { PostbackRejection(.malformed, field: name, "is missing") }

  static func isDigits(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) } }
}
