import WireJSON

/// Removes from a payload what needs consent (``ConsentFilter``): first the fields, whose values it collects, then copies of these values.
/// Each of the two steps passes over each text once.
struct ConsentScan {
  /// A value with fewer letters and digits is not searched for, because it may occur in other values by chance: `true`, 0 or a country.
  static let minCopyLength = 8
  /// Of a longer value, only so many letters and digits are searched for, from its beginning on. So copies of its first part are removed too.
  static let maxCopyLength = 64
  /// The greatest size of the table of values that are searched for, in steps (states × classes of bytes) of four bytes each: 16 MiB, and
  /// twice that while it is built. More than 7,000 identifiers fit. If a payload has more, every text that is long enough to contain one is
  /// removed, apart from the ids that the receiver needs.
  static let maxSteps = 1 << 22
  /// The fields that are kept if there are too many values.
  private static let kept = ["bundleId", "installId"]
  /// How a name is reported that contains a value. Names are published in events.
  private static let hiddenName = "(a name that is the identifier)"
  /// The longest name of a field, and the longest value after it, that are searched for in texts, bytes.
  private static let maxWordLength = 128

  private enum Step {
    case fields
    /// If the values need more than ``maxSteps`` steps, `values` is nil.
    case copies(values: BytePatterns?)
  }

  /// The names of the fields that need consent, folded.
  private let names: Set<[UInt8]>
  /// Those of the advertising identifier.
  private let identifiers: Set<[UInt8]>
  /// The same names as patterns.
  private let patterns: BytePatterns
  private var step = Step.fields
  /// The values of removed fields, folded.
  private var values: Set<[UInt8]> = []
  /// What was removed.
  private(set) var removedNames: Set<String> = []

  init(names: Set<[UInt8]>, identifiers: Set<[UInt8]>, patterns: BytePatterns) {
    self.names = names
    self.identifiers = identifiers
    self.patterns = patterns
  }

  /// The payload without what needs consent.
  mutating func filtered(_ payload: JSONObject) -> JSONObject {
    let kept = object(payload)
    guard !values.isEmpty else { return kept }
    let patterns = BytePatterns.steps(values) > Self.maxSteps ? nil : BytePatterns(values)
    step = .copies(values: patterns)
    var result = object(kept)
    for name in Self.kept where result[name] == nil {
      if case .string(let id)? = kept[name], !containsValue(id) { result[name] = .string(id) }
    }
    // The names were noted before all values were known.
    removedNames = Set(
      removedNames.map { name in
        if patterns == nil { return names.contains(TextVariants.folded(name.utf8)) ? name : Self.hiddenName }
        return mustBeRemoved(name, isName: true) ? Self.hiddenName : name
      })
    return result
  }

  /// - Parameter isPair: true if the object may state a field by name and value (`{"key": "idfa", "value": …}`).
  private mutating func object(_ object: JSONObject, isPair: Bool = false) -> JSONObject {
    var kept: [JSONObject.Member] = []
    kept.reserveCapacity(object.members.count)
    let isPair = isPair && object.members.contains { isIdentifierName($0.value) }
    for member in object.members {
      if let reported = removedName(member.key) {
        removedNames.insert(reported)
        // A name that only contains that of the identifier may be of something else, as `idfa_status` is.
        if names.contains(TextVariants.folded(member.key.utf8)) || Self.mayBeIdentifier(member.value) { collect(member.value) }
      } else if isPair, !isIdentifierName(member.value), Self.mayBeIdentifier(member.value) {
        removedNames.insert(member.key)
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
    case .object(let inner): return .object(object(inner, isPair: true))
    case .array(let elements):
      var kept: [JSONValue] = []
      kept.reserveCapacity(elements.count)
      var followsName = false
      for element in elements {
        // A list may state a field by its name and then its value.
        if followsName, !isIdentifierName(element), Self.mayBeIdentifier(element) {
          removedNames.insert("[]")
          collect(element)
          followsName = false
          continue
        }
        followsName = isIdentifierName(element)
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
    if case .fields = step, TextVariants(name).variants.contains(where: { isField($0) }) { return name }
    return mustBeRemoved(name, isName: true) ? Self.hiddenName : nil
  }

  private func isField(_ name: some Collection<UInt8>) -> Bool {
    names.contains(TextVariants.folded(name)) || ConsentFilter.containsIdentifierName(name)
  }

  /// True in the first step for a text that is the name of the advertising identifier and nothing else.
  private func isIdentifierName(_ value: JSONValue) -> Bool {
    guard case .fields = step, case .string(let text) = value, text.utf8.count <= Self.maxWordLength, patterns.occur(in: text.utf8) else {
      return false
    }
    return text.utf8.allSatisfy { Self.isNameByte($0) }
      && (identifiers.contains(TextVariants.folded(text.utf8)) || TextVariants.folded(text.utf8).suffix(4).elementsEqual("idfa".utf8))
  }

  /// True for a text that looks like an identifier, and for a value that contains one.
  private static func mayBeIdentifier(_ value: JSONValue) -> Bool {
    switch value {
    case .string(let text): isLikeIdentifier(Array(text.utf8)[...])
    case .array(let elements): elements.contains { mayBeIdentifier($0) }
    case .object(let object): object.members.contains { isLikeIdentifier(Array($0.key.utf8)[...]) || mayBeIdentifier($0.value) }
    case .number, .bool, .null: false
    }
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

  /// True if an id contains one of the values. Needs no table of them. It is true for a text that is longer than an id.
  private func containsValue(_ id: String) -> Bool {
    guard id.utf8.count <= SessionSubmission.maxIdentifierBytes else { return true }
    for folded in TextVariants(id).folded {
      for text in [folded, folded.filter { $0 < 0x80 }] {
        for start in text.indices {
          for length in Self.minCopyLength...Self.maxCopyLength where start + length <= text.count {
            if values.contains(Array(text[start..<start + length])) { return true }
          }
        }
      }
    }
    return false
  }

  // MARK: Values

  /// Collects all values within the value of a removed field, and the UUIDs in its names.
  private mutating func collect(_ value: JSONValue) {
    guard case .fields = step else { return }
    switch value {
    case .object(let object):
      for member in object.members {
        collectUUIDs(in: Array(member.key.utf8)[...])
        collect(member.value)
      }
    case .array(let elements): for element in elements { collect(element) }
    case .string(let text):
      for variant in TextVariants(text).variants {
        collect(text: variant)
        collectUUIDs(in: variant[...])
      }
    case .number(let number): collect(text: number.text.utf8)
    case .bool, .null: break
    }
  }

  private mutating func collect(text: some Sequence<UInt8>) {
    let folded = TextVariants.folded(text).prefix(Self.maxCopyLength)
    if folded.count >= Self.minCopyLength { values.insert(Array(folded)) }
  }

  /// Collects each UUID in a text that contains more: 8-4-4-4-12 hexadecimal digits, or 32 as a word.
  private mutating func collectUUIDs(in text: ArraySlice<UInt8>) {
    var index = text.startIndex
    while index < text.endIndex {
      guard index == text.startIndex || !Self.isLetterOrDigit(text[index - 1]), let end = Self.endOfUUID(text, from: index) else {
        index += 1
        continue
      }
      values.insert(TextVariants.folded(text[index..<end]))
      index = end
    }
  }

  /// The end of the UUID that begins at an index; nil if none does.
  private static func endOfUUID(_ text: ArraySlice<UInt8>, from start: Int) -> Int? {
    var index = start
    var digits = 0
    let hasHyphens = start + 8 < text.endIndex && text[start + 8] == UInt8(ascii: "-")
    while digits < 32 {
      guard index < text.endIndex else { return nil }
      if hasHyphens, [8, 12, 16, 20].contains(digits), text[index - 1] != UInt8(ascii: "-") {
        guard text[index] == UInt8(ascii: "-") else { return nil }
      } else {
        guard isHexadecimal(text[index]) else { return nil }
        digits += 1
      }
      index += 1
    }
    return index < text.endIndex && isLetterOrDigit(text[index]) ? nil : index
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  // MARK: Fields in texts

  /// True if a text contains one of the fields: its name as a separate word, followed by a character that ends a name in JSON, a query or
  /// the like, or by a word that looks like an identifier. The text is not parsed, so that invalid JSON cannot hide a field. Collects the
  /// values that follow the names.
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
      guard index - start <= Self.maxWordLength, isField(text[start..<index]) else { continue }
      var next = Self.endOfPath(text, from: index)
      while next < text.count, Self.isBlank(text[next]) || text[next] == UInt8(ascii: "\\") { next += 1 }
      let separators = Self.separators(text[next...].prefix(Self.maxWordLength))
      let rest = text[separators.endIndex...].prefix(Self.maxWordLength)
      let value = rest.prefix { !Self.endsValue($0) && $0 != UInt8(ascii: "|") }
      let isEnded =
        if next == text.count { isName } else if Self.endsName(text[next]) || isName { true } else {
          // In running text, the name is mostly only mentioned: "the idfa is not here".
          (next > index || Self.precedesValue(text[next])) && Self.isLikeIdentifier(value)
        }
      guard isEnded else { continue }
      hasField = true
      collect(text: value)
      let isStructured = separators.contains { $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
      collectUUIDs(in: isStructured ? rest.prefix { $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: "}") } : value)
    }
    return hasField
  }

  /// The characters between a name and its value. After an empty value, the next field follows.
  private static func separators(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let all = text.prefix { endsName($0) || precedesValue($0) }
    guard let sign = all.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }) else { return all }
    return all[all.startIndex..<(all[sign...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "|"), 10, 13].contains($0) } ?? all.endIndex)]
  }

  /// The end of what continues a name (`.value`, `[0]`, `[]`, `/id`), if a character that ends a name follows it.
  private static func endOfPath(_ text: [UInt8], from start: Int) -> Int {
    var index = start
    while index < text.count, [UInt8(ascii: "."), UInt8(ascii: "["), UInt8(ascii: "/")].contains(text[index]),
      index - start < maxWordLength
    {
      index += 1
      while index < text.count, isNameByte(text[index]), index - start < maxWordLength { index += 1 }
      if index < text.count, text[index] == UInt8(ascii: "]") { index += 1 }
    }
    let ends = [UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "\""), UInt8(ascii: "\\")]
    return index > start && index < text.count && ends.contains(text[index]) ? index : start
  }

  /// True for a word that is long enough to be searched for and has a digit.
  private static func isLikeIdentifier(_ word: ArraySlice<UInt8>) -> Bool {
    let folded = TextVariants.folded(word)
    return folded.count >= minCopyLength && folded.contains { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
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
    switch byte {
    case UInt8(ascii: "\\"), UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "|"),
      UInt8(ascii: ","):
      true
    default: isBlank(byte)
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || (9...13).contains(byte) }

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
