import WireJSON

/// Takes out of a payload what only a user's consent allows to pass on.
///
/// Fields go by name, at any depth and in any spelling of case, hyphens and underscores. Then every value and name that
/// contains the same advertising identifier goes too, however it is written, since apps copy it into parameters of
/// their own; and every text that says such a field inside itself: JSON in a string, a query, whatever it calls itself.
///
/// The work grows with the payload's size and no faster, whatever is in it.
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

  /// Of the standard names alone.
  public static let standard = ConsentFilter()

  /// As ``TextForms/folded(_:)`` writes them.
  private let names: Set<[UInt8]>
  private let identifiers: Set<[UInt8]>

  /// - Parameters:
  ///   - additionalNames: further fields that need consent in this deployment.
  ///   - additionalIdentifiers: further fields that hold an advertising identifier; they need consent too.
  public init(additionalNames: [String] = [], additionalIdentifiers: [String] = []) {
    identifiers = Set((Self.identifierNames + additionalIdentifiers).map { TextForms.folded($0.utf8) })
    names = Set((Self.standardNames + additionalNames).map { TextForms.folded($0.utf8) }).union(identifiers)
  }

  /// The payload as it may leave. With consent it leaves whole, but for an identifier of zeros, which is none.
  public func filter(_ payload: JSONObject, consent: Bool) -> Filtered {
    guard !consent else { return Filtered(payload: withoutAbsent(payload), removedNames: []) }
    var found: Set<[UInt8]> = []
    collect(.object(payload), inIdentifier: false, into: &found)
    var removed: Set<String> = []
    let scan = ConsentScan(names: names, identifiers: found)
    let kept = scan.object(payload, removed: &removed)
    return Filtered(payload: kept, removedNames: removed.sorted())
  }

  /// Whether the text is the identifier of a user who has none: all zeros.
  public static func isAbsentIdentifier(_ text: String) -> Bool {
    let digits = TextForms.folded(text.utf8)
    return digits.count == 32 && digits.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  /// Without the members that hold an identifier by their name and whose value is none.
  private func withoutAbsent(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.compactMap { member in
        if identifiers.contains(TextForms.folded(member.key.utf8)), case .string(let text) = member.value,
          Self.isAbsentIdentifier(text)
        {
          return nil
        }
        return JSONObject.Member(key: member.key, value: withoutAbsent(member.value))
      })
  }

  private func withoutAbsent(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object): .object(withoutAbsent(object))
    case .array(let elements): .array(elements.map { withoutAbsent($0) })
    default: value
    }
  }

  private func collect(_ value: JSONValue, inIdentifier: Bool, into found: inout Set<[UInt8]>) {
    switch value {
    case .object(let object):
      for member in object.members {
        collect(member.value, inIdentifier: inIdentifier || identifiers.contains(TextForms.folded(member.key.utf8)), into: &found)
      }
    case .array(let elements):
      for element in elements { collect(element, inIdentifier: inIdentifier, into: &found) }
    case .string(let text):
      if inIdentifier { found.formUnion(TextForms(text).folded) }
    case .number(let number):
      if inIdentifier { found.insert(TextForms.folded(number.text.utf8)) }
    case .bool, .null: break
    }
  }
}
