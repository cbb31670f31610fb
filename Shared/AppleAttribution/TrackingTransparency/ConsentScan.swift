import WireJSON

/// One pass over a payload that must not be sent completely.
struct ConsentScan {
  /// A value with fewer letters and digits is too common to be searched within other values.
  private static let minFragmentLength = 16
  /// A value with more letters and digits is not an identifier; only equal values are removed.
  private static let maxFragmentLength = 64
  /// The greatest number of values that are searched. If a payload has more, every text that could contain one is removed.
  private static let maxFragments = 16
  private static let maxNameLength = 128

  private let names: Set<[UInt8]>
  private let equals: Set<[UInt8]>
  private let fragments: [Fragment]
  private let hasTooMany: Bool
  /// True if only names are searched, and no identifier.
  private var isForNames: Bool { equals.isEmpty }

  init(names: Set<[UInt8]>, identifiers: Set<[UInt8]>) {
    self.names = names
    equals = identifiers.subtracting([[]])
    let fragments = equals.filter { (Self.minFragmentLength...Self.maxFragmentLength).contains($0.count) }
    hasTooMany = fragments.count > Self.maxFragments
    self.fragments = hasTooMany ? [] : fragments.map { Fragment($0) }
  }

  func object(_ object: JSONObject, removed: inout Set<String>) -> JSONObject {
    var kept: [JSONObject.Member] = []
    for member in object.members {
      if names.contains(TextForms.folded(member.key.utf8)) {
        removed.insert(member.key)
      } else if mayNotLeave(member.key) {
        removed.insert("(a name that is the identifier)")
      } else if let value = value(member.value, removed: &removed) {
        kept.append(.init(key: member.key, value: value))
      } else {
        removed.insert(member.key)
      }
    }
    return JSONObject(kept)
  }

  /// Nil if the value must be removed.
  private func value(_ value: JSONValue, removed: inout Set<String>) -> JSONValue? {
    switch value {
    case .object(let inner): return .object(object(inner, removed: &removed))
    case .array(let elements):
      var kept: [JSONValue] = []
      for element in elements {
        if let element = self.value(element, removed: &removed) {
          kept.append(element)
        } else {
          removed.insert("[]")
        }
      }
      return .array(kept)
    // Written out, because a bare `nil` would be JSON's null here.
    case .string(let text): return mayNotLeave(text) ? Optional.none : value
    case .number(let number): return !isForNames && holdsIdentifier(TextForms.folded(number.text.utf8)) ? Optional.none : value
    case .bool, .null: return value
    }
  }

  private func mayNotLeave(_ text: String) -> Bool {
    // A field in a text is followed by a character of `isEnd`, or is encoded. Most texts have neither and need no search.
    if isForNames, !text.utf8.contains(where: { Self.isEnd($0) || Self.isOfEncoding($0) }) { return false }
    for form in TextForms(text).forms where holdsIdentifier(TextForms.folded(form)) || saysField(form) { return true }
    return false
  }

  private func holdsIdentifier(_ folded: [UInt8]) -> Bool {
    if equals.contains(folded) || hasTooMany && folded.count >= Self.minFragmentLength { return true }
    return fragments.contains { $0.isIn(folded) }
  }

  /// True if a text contains one of the fields: the name as a separate word, followed by what ends names in JSON, queries and the like. The
  /// text is not parsed, so that invalid JSON cannot hide a field.
  private func saysField(_ text: [UInt8]) -> Bool {
    var index = 0
    while index < text.count {
      guard Self.isOfName(text[index]) else {
        index += 1
        continue
      }
      let start = index
      while index < text.count, Self.isOfName(text[index]) { index += 1 }
      guard index - start <= Self.maxNameLength else { continue }
      var next = index
      while next < text.count, text[next] == UInt8(ascii: " ") || text[next] == UInt8(ascii: "\\") { next += 1 }
      guard next < text.count, Self.isEnd(text[next]) else { continue }
      if names.contains(TextForms.folded(text[start..<index])) { return true }
    }
    return false
  }

  private static func isEnd(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "]"), UInt8(ascii: ">"),
      UInt8(ascii: "`"):
      true
    default: false
    }
  }

  /// True for bytes that begin an encoded character.
  private static func isOfEncoding(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") }

  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...:
      true
    default: false
    }
  }
}
