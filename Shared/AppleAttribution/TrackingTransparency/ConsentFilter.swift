import WireJSON

/// Removes from a payload what may be passed on only with the user's consent. ``ConsentScan`` does the work.
///
/// Three things are removed, at any depth:
/// - fields with certain names, whatever their case, hyphens and underscores;
/// - names and values that contain the payload's advertising identifier in any spelling, because apps copy it into parameters of their own;
/// - texts that contain a field with such a name, such as JSON or a query in a string.
///
/// The time that this takes is linear in the payload's size, whatever the payload contains.
public struct ConsentFilter: Sendable {
  /// The names that are always removed: the advertising identifier, the device's start time, and the times in Apple's attribution records.
  static let standardNames = ["idfa", "started_at", "clickDate", "impressionDate"]
  /// The names of fields with an advertising identifier. Their values are searched in the whole payload.
  static let identifierNames = ["idfa"]

  /// A payload without the removed parts, and the names of what was removed.
  public struct Filtered: Sendable, Hashable {
    public var payload: JSONObject
    /// The names of the removed fields, sorted, without duplicates. A name that contains the identifier is replaced, and so is that of an
    /// element of a list.
    public var removedNames: [String]
  }

  /// A filter for the standard names only.
  public static let standard = ConsentFilter()

  // The names in the spelling of ``TextVariants/folded(_:)``.
  private let names: Set<[UInt8]>
  private let identifiers: Set<[UInt8]>

  /// - Parameters:
  ///   - additionalNames: the names of further fields that need consent in this deployment.
  ///   - additionalIdentifiers: the names of further fields with an advertising identifier, which need consent too.
  public init(additionalNames: [String] = [], additionalIdentifiers: [String] = []) {
    identifiers = Set((Self.identifierNames + additionalIdentifiers).map { TextVariants.folded($0.utf8) })
    names = Set((Self.standardNames + additionalNames).map { TextVariants.folded($0.utf8) }).union(identifiers)
  }

  /// The payload that may be sent. With consent, that is all of it except an identifier of zeros, which stands for none.
  public func filter(_ payload: JSONObject, consent: Bool) -> Filtered {
    guard !consent else { return Filtered(payload: withoutAbsent(payload), removedNames: []) }
    var found: Set<[UInt8]> = []
    collect(.object(payload), inIdentifier: false, into: &found)
    var removed: Set<String> = []
    let scan = ConsentScan(names: names, identifiers: found)
    let kept = scan.object(payload, removed: &removed)
    return Filtered(payload: kept, removedNames: removed.sorted())
  }

  /// True for an identifier of zeros, which devices report if there is none.
  static func isAbsentIdentifier(_ text: String) -> Bool {
    let digits = TextVariants.folded(text.utf8)
    return digits.count == 32 && digits.allSatisfy { $0 == UInt8(ascii: "0") }
  }

  /// The object without identifiers of zeros.
  private func withoutAbsent(_ object: JSONObject) -> JSONObject {
    JSONObject(
      object.members.compactMap { member in
        if identifiers.contains(TextVariants.folded(member.key.utf8)), case .string(let text) = member.value,
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

  /// Collects the values of the identifier's fields, folded.
  private func collect(_ value: JSONValue, inIdentifier: Bool, into found: inout Set<[UInt8]>) {
    switch value {
    case .object(let object):
      for member in object.members {
        collect(member.value, inIdentifier: inIdentifier || identifiers.contains(TextVariants.folded(member.key.utf8)), into: &found)
      }
    case .array(let elements):
      for element in elements { collect(element, inIdentifier: inIdentifier, into: &found) }
    case .string(let text):
      if inIdentifier { found.formUnion(TextVariants(text).folded) }
    case .number(let number):
      if inIdentifier { found.insert(TextVariants.folded(number.text.utf8)) }
    case .bool, .null: break
    }
  }
}
