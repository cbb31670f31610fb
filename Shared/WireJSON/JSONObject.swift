/// An object's members in order, with unique names.
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

  /// Reads or replaces a member; writing nil removes it. Objects are small, so a linear search is faster than a hash table.
  public subscript(_ key: String) -> JSONValue? {
    get { place(of: key).map { members[$0].value } }
    set {
      if let index = place(of: key) {
        if let newValue { members[index].value = newValue } else { members.remove(at: index) }
      } else if let newValue {
        members.append(Member(key: key, value: newValue))
      }
    }
  }

  private func place(of key: String) -> Int? {
    // By index, so that members are not copied.
    for index in members.indices where members[index].key.isExactly(key) { return index }
    return nil
  }

  /// Adds a member with a new name; nil adds nothing. It is faster than the subscript, which searches the name.
  public mutating func append(new key: String, _ value: JSONValue?) {
    assert(self[key] == nil, "the object has a member \(key)")
    if let value { append(Member(key: key, value: value)) }
  }

  /// Adds a member whose name was searched before.
  mutating func append(_ member: Member) { members.append(member) }

  public mutating func reserveCapacity(_ count: Int) { members.reserveCapacity(count) }

  /// True if both have the same members in any order. The time is linear in their size, also for nested objects in different order.
  public static func == (a: JSONObject, b: JSONObject) -> Bool {
    guard a.members.count == b.members.count else { return false }
    if zip(a.members, b.members).allSatisfy({ $0.key.isExactly($1.key) }) {
      return zip(a.members, b.members).allSatisfy { $0.value == $1.value }
    }
    if a.members.count <= KeySet.few { return a.members.allSatisfy { b[$0.key] == $0.value } }
    var values: [ExactText: JSONValue] = [:]
    values.reserveCapacity(b.members.count)
    for member in b.members { values[ExactText(member.key)] = member.value }
    return a.members.allSatisfy { values[ExactText($0.key)] == $0.value }
  }

  public func hash(into hasher: inout Hasher) { hasher.combine(members.count) }
}
