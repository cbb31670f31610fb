/// A JSON object: its members in order, with unique names. The initialisers do not check that names are unique. Members are read and
/// written by subscript: `object["name"] = "value"`.
public struct JSONObject: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  public struct Member: Sendable, Hashable {
    public var key: String
    public var value: JSONValue
    public init(key: String, value: JSONValue) {
      self.key = key
      self.value = value
    }
  }

  public private(set) var members: [Member]

  public init(_ members: [Member] = []) { self.members = members }

  public init(dictionaryLiteral elements: (String, JSONValue)...) {
    members = elements.map { Member(key: $0.0, value: $0.1) }
  }

  public var isEmpty: Bool { members.isEmpty }
  public var keys: [String] { members.map(\.key) }

  /// The value of a member; nil if there is none. Setting nil removes the member. A new member becomes the last one. Objects are small, so
  /// a linear search is faster than a hash table.
  public subscript(_ key: String) -> JSONValue? {
    get { index(of: key).map { members[$0].value } }
    set {
      if let index = index(of: key) {
        if let newValue { members[index].value = newValue } else { members.remove(at: index) }
      } else if let newValue {
        members.append(Member(key: key, value: newValue))
      }
    }
  }

  private func index(of key: String) -> Int? {
    // The loop is over indices, so that members are not copied.
    for index in members.indices where members[index].key.isExactly(key) { return index }
    return nil
  }

  /// Adds a member with a new name; nil adds nothing. This is faster than the subscript, which searches for the name. The caller must make
  /// sure that the name is new.
  public mutating func append(new key: String, _ value: JSONValue?) {
    assert(self[key] == nil, "the object has a member \(key)")
    if let value { append(Member(key: key, value: value)) }
  }

  /// Adds a member whose name the caller has searched for.
  mutating func append(_ member: Member) { members.append(member) }

  public mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// True if both have the same members in any order. The time is linear in the objects' size, even if their members, and those of nested
  /// objects, are in different orders.
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    guard a.members.count == b.members.count else { return false }
    if zip(a.members, b.members).allSatisfy({ $0.key.isExactly($1.key) }) {
      return zip(a.members, b.members).allSatisfy { $0.value == $1.value }
    }
    if a.members.count <= KeySet.maxLinearSearch { return a.members.allSatisfy { b[$0.key] == $0.value } }
    var values: [ExactText: JSONValue] = [:]
    values.reserveCapacity(b.members.count)
    for member in b.members { values[ExactText(member.key)] = member.value }
    return a.members.allSatisfy { values[ExactText($0.key)] == $0.value }
  }

  /// Hashes only the number of members, because equal objects may have them in different orders.
  public func hash(into hasher: inout Hasher) { hasher.combine(members.count) }
}
