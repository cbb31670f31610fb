import WireJSON

/// Removes from a payload what needs consent (``ConsentFilter``), in one pass.
struct ConsentScan {
  /// An identifier with fewer letters and digits is not searched within other values, because it may occur in them by chance. Only values
  /// that are equal to it are removed.
  private static let minPatternLength = 16
  /// An identifier with more letters and digits is not searched within other values either. No advertising identifier is that long.
  private static let maxPatternLength = 64
  /// The greatest number of identifiers that are searched within other values. If a payload has more, every text that is long enough to
  /// contain one is removed.
  private static let maxPatterns = 16
  /// The longest name of a field that is searched in texts, bytes.
  private static let maxNameLength = 128

  /// The names of the fields that need consent, folded.
  private let names: Set<[UInt8]>
  /// The identifiers in the payload, folded.
  private let identifiers: Set<[UInt8]>
  /// The identifiers that are searched within other values.
  private let patterns: [BytePattern]
  /// True if there are more than ``maxPatterns`` of them.
  private let hasTooManyPatterns: Bool
  /// True if the payload has no identifier, so that only names are searched.
  private var searchesNamesOnly: Bool { identifiers.isEmpty }

  init(names: Set<[UInt8]>, identifiers: Set<[UInt8]>) {
    self.names = names
    self.identifiers = identifiers.subtracting([[]])
    let patterns = self.identifiers.filter { (Self.minPatternLength...Self.maxPatternLength).contains($0.count) }
    hasTooManyPatterns = patterns.count > Self.maxPatterns
    self.patterns = hasTooManyPatterns ? [] : patterns.map { BytePattern($0) }
  }

  /// The object without what needs consent. Adds the names of what is removed to `removed`.
  func object(_ object: JSONObject, removed: inout Set<String>) -> JSONObject {
    var kept: [JSONObject.Member] = []
    for member in object.members {
      if names.contains(TextVariants.folded(member.key.utf8)) {
        removed.insert(member.key)
      } else if mustBeRemoved(member.key) {
        // Published in events, so the text must not change. The name may also contain a field.
        removed.insert("(a name that is the identifier)")
      } else if let value = value(member.value, removed: &removed) {
        kept.append(.init(key: member.key, value: value))
      } else {
        removed.insert(member.key)
      }
    }
    return JSONObject(kept)
  }

  /// The value without what needs consent; nil if the whole value must be removed.
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
    // `Optional.none` and not `nil`, because `nil` would be JSON's null here.
    case .string(let text): return mustBeRemoved(text) ? Optional.none : value
    case .number(let number): return !searchesNamesOnly && containsIdentifier(TextVariants.folded(number.text.utf8)) ? Optional.none : value
    case .bool, .null: return value
    }
  }

  /// True if a text contains an identifier or a field that needs consent.
  private func mustBeRemoved(_ text: String) -> Bool {
    // A field in a text is followed by a character of `endsName`, or is encoded. Most texts have neither of the two and are not searched.
    if searchesNamesOnly, !text.utf8.contains(where: { Self.endsName($0) || Self.beginsEncoding($0) }) { return false }
    return TextVariants(text).variants.contains { containsIdentifier(TextVariants.folded($0)) || containsField($0) }
  }

  /// True if a folded text contains an identifier.
  private func containsIdentifier(_ folded: [UInt8]) -> Bool {
    if identifiers.contains(folded) || hasTooManyPatterns && folded.count >= Self.minPatternLength { return true }
    return patterns.contains { $0.occurs(in: folded) }
  }

  /// True if a text contains one of the fields: its name as a separate word, followed by a character that ends a name in JSON, a query or
  /// the like. The text is not parsed, so that invalid JSON cannot hide a field.
  private func containsField(_ text: [UInt8]) -> Bool {
    var index = 0
    while index < text.count {
      guard Self.isNameByte(text[index]) else {
        index += 1
        continue
      }
      let start = index
      while index < text.count, Self.isNameByte(text[index]) { index += 1 }
      guard index - start <= Self.maxNameLength else { continue }
      var next = index
      while next < text.count, text[next] == UInt8(ascii: " ") || text[next] == UInt8(ascii: "\\") { next += 1 }
      guard next < text.count, Self.endsName(text[next]) else { continue }
      if names.contains(TextVariants.folded(text[start..<index])) { return true }
    }
    return false
  }

  /// True for characters that end the name of a field in JSON, queries, XML and the like.
  private static func endsName(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: ":"), UInt8(ascii: "="), UInt8(ascii: "]"), UInt8(ascii: ">"),
      UInt8(ascii: "`"):
      true
    default: false
    }
  }

  /// True for bytes that begin an encoded character.
  private static func beginsEncoding(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "%") || byte == UInt8(ascii: "\\") }

  /// True for bytes of which a field's name consists.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "_"), UInt8(ascii: "-"), 0x80...:
      true
    default: false
    }
  }
}
