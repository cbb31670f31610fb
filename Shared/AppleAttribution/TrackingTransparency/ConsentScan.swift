import WireJSON

/// Removes from a payload what needs consent (``ConsentFilter``): first the fields, whose values it collects, then copies of these values.
/// Each of the two steps passes over each text once.
struct ConsentScan {
  /// A value with fewer letters and digits is not searched for, because it may occur in other values by chance: `true`, 0 or a country.
  static let minCopyLength = 8
  /// Of a longer value, only so many letters and digits are searched for, from its beginning on. So copies of its first part are removed too.
  static let maxCopyLength = 64
  /// The greatest number of values that are searched for. If a payload has more, every text that is long enough to contain one is removed.
  static let maxCopies = 64
  /// The longest name of a field, and the longest value after it, that are searched for in texts, bytes.
  private static let maxWordLength = 128

  private enum Step {
    case fields
    /// If there are more than ``maxCopies`` values, `values` is nil.
    case copies(values: BytePatterns?)
  }

  /// The names of the fields that need consent, folded.
  private let names: Set<[UInt8]>
  /// The same names as patterns.
  private let patterns: BytePatterns
  private var step = Step.fields
  /// The values of removed fields, folded.
  private var values: Set<[UInt8]> = []
  /// What was removed.
  private(set) var removedNames: Set<String> = []

  init(names: Set<[UInt8]>, patterns: BytePatterns) {
    self.names = names
    self.patterns = patterns
  }

  /// The payload without what needs consent.
  mutating func filtered(_ payload: JSONObject) -> JSONObject {
    let kept = object(payload)
    guard !values.isEmpty else { return kept }
    step = .copies(values: values.count > Self.maxCopies ? nil : BytePatterns(values))
    return object(kept)
  }

  private mutating func object(_ object: JSONObject) -> JSONObject {
    var kept: [JSONObject.Member] = []
    kept.reserveCapacity(object.members.count)
    for member in object.members {
      if let reported = removedName(member.key) {
        removedNames.insert(reported)
        collect(member.value)
      } else if let value = value(member.value) {
        kept.append(.init(key: member.key, value: value))
      } else {
        removedNames.insert(member.key)
      }
    }
    return JSONObject(kept)
  }

  /// The value without what needs consent; nil if the whole value must be removed.
  private mutating func value(_ value: JSONValue) -> JSONValue? {
    switch value {
    case .object(let inner): return .object(object(inner))
    case .array(let elements):
      var kept: [JSONValue] = []
      kept.reserveCapacity(elements.count)
      for element in elements {
        if let element = self.value(element) {
          kept.append(element)
        } else {
          removedNames.insert("[]")
        }
      }
      return .array(kept)
    // `Optional.none` and not `nil`, because `nil` would be JSON's null here.
    case .string(let text): return mustBeRemoved(text, isName: false) ? Optional.none : value
    case .number(let number):
      guard case .copies(let values) = step else { return value }
      return Self.contains(values, Array(number.text.utf8)) ? Optional.none : value
    case .bool, .null: return value
    }
  }

  /// How the removal of a member with this name is reported; nil if the name does not require it.
  private mutating func removedName(_ name: String) -> String? {
    guard mayContainSearched(name) else { return nil }
    if case .fields = step, TextVariants(name).folded.contains(where: { names.contains($0) }) { return name }
    // Published in events, so the text must not appear. The name may contain a field or a value.
    return mustBeRemoved(name, isName: true) ? "(a name that is the identifier)" : nil
  }

  /// False for most texts: those that contain neither what the present step searches for, even as a part of a word, nor encoded characters.
  private func mayContainSearched(_ text: String) -> Bool {
    switch step {
    case .fields: patterns.occur(in: text.utf8) || TextVariants.hasEncodedCharacters(text.utf8)
    case .copies(let values):
      text.utf8.count >= Self.minCopyLength && (values?.occur(in: text.utf8) ?? true || TextVariants.hasEncodedCharacters(text.utf8))
    }
  }

  /// True if a text contains what the present step removes.
  private mutating func mustBeRemoved(_ text: String, isName: Bool) -> Bool {
    guard mayContainSearched(text) else { return false }
    let variants = TextVariants(text).variants
    switch step {
    case .fields:
      var hasField = false
      for variant in variants where patterns.occur(in: variant) {
        if collectFields(of: variant, isName: isName) { hasField = true }
      }
      return hasField
    case .copies(let values): return variants.contains { Self.contains(values, $0) }
    }
  }

  /// True if a text contains one of the values. If they are too many, nil, it is true for every text that is long enough.
  private static func contains(_ values: BytePatterns?, _ text: [UInt8]) -> Bool {
    values?.occur(in: text) ?? (TextVariants.folded(text).count >= minCopyLength)
  }

  // MARK: Values

  /// Collects all values within the value of a removed field.
  private mutating func collect(_ value: JSONValue) {
    guard case .fields = step else { return }
    switch value {
    case .object(let object): for member in object.members { collect(member.value) }
    case .array(let elements): for element in elements { collect(element) }
    case .string(let text): for variant in TextVariants(text).variants { collect(text: variant) }
    case .number(let number): collect(text: number.text.utf8)
    case .bool, .null: break
    }
  }

  private mutating func collect(text: some Sequence<UInt8>) {
    let folded = TextVariants.folded(text).prefix(Self.maxCopyLength)
    // Whether there are a few or many more than the greatest number makes no difference.
    if folded.count >= Self.minCopyLength, values.count <= Self.maxCopies { values.insert(Array(folded)) }
  }

  // MARK: Fields in texts

  /// True if a text contains one of the fields: its name as a separate word, followed by a character that ends a name in JSON, a query or
  /// the like. The text is not parsed, so that invalid JSON cannot hide a field. Collects the words that follow the names.
  ///
  /// - Parameter isName: true if the text is a name itself, which the end of the text ends too (`device.idfa`).
  private mutating func collectFields(of text: [UInt8], isName: Bool) -> Bool {
    var hasField = false
    var index = 0
    while index < text.count {
      guard Self.isNameByte(text[index]) else {
        index += 1
        continue
      }
      let start = index
      while index < text.count, Self.isNameByte(text[index]) { index += 1 }
      guard index - start <= Self.maxWordLength else { continue }
      var next = index
      while next < text.count, text[next] == UInt8(ascii: " ") || text[next] == UInt8(ascii: "\\") { next += 1 }
      guard next == text.count ? isName : Self.endsName(text[next]) else { continue }
      guard names.contains(TextVariants.folded(text[start..<index])) else { continue }
      hasField = true
      let value = text[next...].drop { Self.endsName($0) || Self.precedesValue($0) }
      collect(text: value.prefix(Self.maxWordLength).prefix { !Self.endsValue($0) })
    }
    return hasField
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

  /// True for further characters between a name and its value.
  private static func precedesValue(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\\") || byte == UInt8(ascii: "[") || byte == UInt8(ascii: "{")
  }

  /// True for characters that end a value in JSON, queries, XML and the like.
  private static func endsValue(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ","),
      UInt8(ascii: ";"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "\\"), 0...0x20:
      true
    default: false
    }
  }

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
