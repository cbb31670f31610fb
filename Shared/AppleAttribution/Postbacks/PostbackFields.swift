import WireJSON

/// Reads Apple's fields of a postback. Other JSON types than Apple's are accepted, because a server that forwards postbacks may change
/// them, but values are checked strictly.
///
/// `null` means absent. An integer may be a decimal string, and a Boolean 0, 1, or one of the strings `true`, `false`, `1` and `0`.
/// Anything else is `malformed` with the field's name.
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
    switch value(name) {
    case nil: throw Self.missing(name)
    case .bool(let value): return value
    case .number(let number) where number.text == "0": return false
    case .number(let number) where number.text == "1": return true
    case .string("false"), .string("0"): return false
    case .string("true"), .string("1"): return true
    default: throw PostbackRejection(.malformed, field: name, "must be true or false")
    }
  }

  /// Two to four digits as text, because leading zeros count.
  func sourceIdentifier() throws(PostbackRejection) -> String {
    let name = "source-identifier"
    guard case .string(let text) = value(name) else {
      throw value(name) == nil ? Self.missing(name) : PostbackRejection(.malformed, field: name, "must be a string of digits")
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
    let text: String
    switch value(name) {
    case nil: return nil
    case .number(let number): text = number.text
    case .string(let digits): text = digits
    default: throw PostbackRejection(.malformed, field: name, "must be a whole number")
    }
    guard Self.isDigits(text) else {
      throw PostbackRejection(.malformed, field: name, "must be a whole number without fraction or exponent")
    }
    guard let value = Int64(text), range.contains(value) else {
      throw PostbackRejection(.malformed, field: name, "is out of range")
    }
    return value
  }

  /// The conversion values, which Apple does not sign. At most one of the two may be present.
  ///
  /// - Parameter knowsCoarse: false if the version has no coarse values; then such a field is ignored.
  func conversion(coarse knowsCoarse: Bool) throws(PostbackRejection) -> (fine: Int?, coarse: CoarseConversionValue?) {
    let fine = try optionalInteger("conversion-value", 0...63).map { Int($0) }
    let name = "coarse-conversion-value"
    guard knowsCoarse, let text = try optionalString(name) else { return (fine, nil) }
    guard let coarse = CoarseConversionValue(rawValue: text) else {
      throw PostbackRejection(.malformed, field: name, "must be low, medium or high")
    }
    guard fine == nil else { throw PostbackRejection(.malformed, field: name, "must not be present together with conversion-value") }
    return (nil, coarse)
  }

  /// The country, which Apple does not sign; nil if it is absent.
  func countryCode() throws(PostbackRejection) -> String? {
    let name = "country-code"
    guard let code = try optionalString(name) else { return nil }
    guard code.utf8.count == 2, code.utf8.allSatisfy({ (65...90).contains($0 & 0xDF) }) else {
      throw PostbackRejection(.malformed, field: name, "must be two letters")
    }
    return code
  }

  static func missing(_ name: String) -> PostbackRejection { PostbackRejection(.malformed, field: name, "is missing") }

  static func isDigits(_ text: String) -> Bool { !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) } }
}
