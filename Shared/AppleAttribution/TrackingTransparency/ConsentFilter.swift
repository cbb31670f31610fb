import WireJSON

/// Removes from a payload what may be passed on only with the user's consent.
///
/// Fields are removed by name, at any depth and in any spelling of case, hyphens and underscores. So is every value and name that contains
/// the same advertising identifier, in any spelling, because apps copy it into their own parameters; and every text that contains such a
/// field: JSON in a string, a query, or the like.
///
/// The work is linear in the payload's size, whatever it contains.
public struct ConsentFilter: Sendable {
  /// The advertising identifier and the device's start time; and the times in Apple's attribution records.
  static let standardNames = ["idfa", "started_at", "clickDate", "impressionDate"]
  /// The names of fields with an advertising identifier, whose value is searched everywhere.
  static let identifierNames = ["idfa"]

  /// A payload after removal, and the removed names.
  public struct Filtered: Sendable, Hashable {
    public var payload: JSONObject
    /// The removed names, sorted, without duplicates. They never contain a value or the identifier.
    public var removedNames: [String]
  }

  /// A filter of the standard names only.
  public static let standard = ConsentFilter()

  /// The names in the form of ``TextForms/folded(_:)``.
  private let names: Set<[UInt8]>
  private let identifiers: Set<[UInt8]>

  /// - Parameters:
  ///   - additionalNames: further fields that need consent in this deployment.
  ///   - additionalIdentifiers: further fields with an advertising identifier; they need consent too.
  public init(additionalNames: [String] = [], additionalIdentifiers: [String] = []) {
    identifiers = Set((Self.identifierNames + additionalIdentifiers).map { TextForms.folded($0.utf8) })
    names = Set((Self.standardNames + additionalNames).map { TextForms.folded($0.utf8) }).union(identifiers)
  }

  /// The payload that may be sent. With consent that is all of it except for an identifier of zeros, which stands for none.
  public func filter(_ payload: JSONObject, consent: Bool) -> Filtered {
    guard !consent else { return Filtered(payload: withoutAbsent(payload), removedNames: []) }
    var found: Set<[UInt8]> = []
    collect(.object(payload), inIdentifier: false, into: &found)
    var removed: Set<String> = []
    let scan = ConsentScan(names: names, identifiers: found)
    let kept = scan.object(payload, removed: &removed)
    return Filtered(payload: kept, removedNames: removed.sorted())
  }

  /// True for the identifier of a user without one: all zeros.
  static func isAbsentIdentifier(_ text: String) -> Bool {
    let digits = TextForms.folded(text.utf8)
    return digits.count == 32 && digits.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  /// The object without identifiers that stand for none.
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
