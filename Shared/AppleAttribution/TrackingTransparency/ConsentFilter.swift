import WireJSON

/// Takes out of a payload what only a user's consent allows to pass on.
///
/// Fields go by name, at any depth and in any spelling of case, hyphens and underscores. Then every value and name that
/// contains the same advertising identifier goes too, however it is written, since apps copy it into parameters of
/// their own.
public struct ConsentFilter: Sendable {
  /// The advertising identifier and the device's start time; and the times in Apple's attribution records.
  public static let standardNames = ["idfa", "started_at", "clickDate", "impressionDate"]
  /// Names that hold an advertising identifier, whose value is looked for everywhere.
  public static let identifierNames = ["idfa"]

  /// A payload without what was not allowed, and what that was.
  public struct Filtered: Sendable, Hashable {
    public var payload: JSONObject
    /// Names of what was taken out, sorted, each once: never a value, and never a name that itself holds the
    /// identifier.
    public var removedNames: [String]
  }

  private let names: Set<String>
  private let identifiers: Set<String>

  /// - Parameters:
  ///   - additionalNames: further fields that need consent in this deployment.
  ///   - additionalIdentifiers: further fields that hold an advertising identifier; they need consent too.
  public init(additionalNames: [String] = [], additionalIdentifiers: [String] = []) {
    identifiers = Set((Self.identifierNames + additionalIdentifiers).map(Self.folded))
    names = Set((Self.standardNames + additionalNames).map(Self.folded)).union(identifiers)
  }

  /// The payload as it may leave. With consent it leaves whole.
  public func filter(_ payload: JSONObject, consent: Bool) -> Filtered {
    guard !consent else { return Filtered(payload: payload, removedNames: []) }
    var found: Set<[UInt8]> = []
    collect(.object(payload), inIdentifier: false, into: &found)
    var removed: Set<String> = []
    let scan = Scan(names: names, values: Array(found), fold: Self.folded)
    let kept = scan.object(payload, removed: &removed)
    return Filtered(payload: kept, removedNames: removed.sorted())
  }

  /// Whether the text is the identifier of a user who has none: all zeros.
  public static func isAbsentIdentifier(_ text: String) -> Bool {
    let digits = Scan.alphanumerics(text)
    return digits.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  /// A name as names are compared.
  static func folded(_ name: String) -> String {
    String(decoding: Scan.alphanumerics(name), as: UTF8.self)
  }

  private func collect(_ value: JSONValue, inIdentifier: Bool, into found: inout Set<[UInt8]>) {
    switch value {
    case .object(let object):
      for member in object.members {
        collect(member.value, inIdentifier: inIdentifier || identifiers.contains(Self.folded(member.key)), into: &found)
      }
    case .array(let elements):
      for element in elements { collect(element, inIdentifier: inIdentifier, into: &found) }
    case .string(let text):
      if inIdentifier { found.formUnion(Scan.readings(of: text)) }
    case .number(let number):
      if inIdentifier { found.insert(Scan.alphanumerics(number.text)) }
    case .bool, .null: break
    }
  }

  /// One pass over a payload.
  private struct Scan {
    /// Below this many letters and digits a value is too common to be looked for inside of others.
    static let shortestFragment = 16

    let names: Set<String>
    let values: [[UInt8]]
    let fold: (String) -> String

    func object(_ object: JSONObject, removed: inout Set<String>) -> JSONObject {
      var kept: [JSONObject.Member] = []
      for member in object.members {
        if names.contains(fold(member.key)) {
          removed.insert(member.key)
        } else if holdsIdentifier(member.key) {
          removed.insert("(a name that is the identifier)")
        } else if let value = value(member.value, removed: &removed) {
          kept.append(.init(key: member.key, value: value))
        } else {
          removed.insert(member.key)
        }
      }
      return JSONObject(kept)
    }

    /// Nil when the value itself has to go.
    func value(_ value: JSONValue, removed: inout Set<String>) -> JSONValue? {
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
      // Spelt out, because a bare `nil` would be JSON's null here.
      case .string(let text): return holdsIdentifier(text) || holdsForbiddenName(text) ? Optional.none : value
      case .number(let number): return holdsIdentifier(number.text) ? Optional.none : value
      case .bool, .null: return value
      }
    }

    func holdsIdentifier(_ text: String) -> Bool {
      guard !values.isEmpty else { return false }
      for form in Self.readings(of: text) {
        for identifier in values where !identifier.isEmpty {
          if identifier.count < Self.shortestFragment {
            if form == identifier { return true }
          } else if form.count >= identifier.count, Self.contains(form, identifier) {
            return true
          }
        }
      }
      return false
    }

    /// JSON inside a string is a payload too: one that holds a forbidden name goes as a whole.
    func holdsForbiddenName(_ text: String) -> Bool {
      guard let first = text.utf8.first(where: { !($0 == 0x20 || (0x09...0x0D).contains($0)) }),
        first == UInt8(ascii: "{") || first == UInt8(ascii: "["), let inner = try? JSONValue(parsing: text)
      else { return false }
      var removed: Set<String> = []
      switch inner {
      case .object(let inner): _ = object(inner, removed: &removed)
      default: _ = value(inner, removed: &removed)
      }
      return !removed.isEmpty
    }

    /// The letters and digits of a text, as written and with `%2D` and its like resolved.
    static func readings(of text: String) -> [[UInt8]] {
      var result = [alphanumerics(text)]
      var bytes = Array(text.utf8)
      // A link inside a link is encoded twice; deeper than that nobody nests.
      for _ in 0..<3 where bytes.contains(UInt8(ascii: "%")) {
        bytes = percentDecoded(bytes)
        result.append(alphanumerics(bytes))
      }
      return result
    }

    /// Lower-case letters and digits only: an identifier without hyphens, braces or spaces is still the identifier.
    static func alphanumerics(_ text: String) -> [UInt8] { alphanumerics(Array(text.utf8)) }

    static func alphanumerics(_ bytes: [UInt8]) -> [UInt8] {
      var result: [UInt8] = []
      result.reserveCapacity(bytes.count)
      for byte in bytes {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): result.append(byte)
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): result.append(byte | 0x20)
        // Other scripts' letters count, so that two names in Greek are not both "".
        case 0x80...: result.append(byte)
        default: break
        }
      }
      return result
    }

    static func percentDecoded(_ bytes: [UInt8]) -> [UInt8] {
      var result: [UInt8] = []
      var index = 0
      while index < bytes.count {
        if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = hex(bytes[index + 1]),
          let low = hex(bytes[index + 2])
        {
          result.append(high << 4 | low)
          index += 3
        } else {
          result.append(bytes[index])
          index += 1
        }
      }
      return result
    }

    static func hex(_ byte: UInt8) -> UInt8? {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
      default: nil
      }
    }

    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
      guard let first = part.first else { return false }
      for start in 0...(text.count - part.count) where text[start] == first {
        if text[start..<(start + part.count)].elementsEqual(part) { return true }
      }
      return false
    }
  }
}
