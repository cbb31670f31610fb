/// The names of an object so far: a short list, or a hash set for many names, so that the time is not quadratic.
public struct KeySet: Sendable {
  /// The number of names up to which the list is searched.
  static let few = 16
  private var few: [String] = []
  private var many: Set<ExactText> = []

  public init() {}

  /// Returns false if the name was there already.
  public mutating func insert(_ key: String) -> Bool {
    if many.isEmpty {
      if few.contains(where: { $0.isExactly(key) }) { return false }
      few.append(key)
      if few.count == Self.few { many = Set(few.map { ExactText($0) }) }
      return true
    }
    return many.insert(ExactText(key)).inserted
  }

  /// Inserts a name in addition to those of an object.
  mutating func insert(_ key: String, after object: JSONObject) -> Bool {
    if many.isEmpty { many = Set(object.members.map { ExactText($0.key) }) }
    return many.insert(ExactText(key)).inserted
  }
}
