/// The names of an object with many names, as a hash set, so that the time to find duplicates is not quadratic.
struct KeySet: Sendable {
  /// The number of names up to which the object itself is searched.
  static let few = 16
  private var many: Set<ExactText> = []

  /// Inserts a name in addition to those of an object. Returns false if the name was there already.
  mutating func insert(_ key: String, after object: JSONObject) -> Bool {
    if many.isEmpty { many = Set(object.members.map { ExactText($0.key) }) }
    return many.insert(ExactText(key)).inserted
  }
}
