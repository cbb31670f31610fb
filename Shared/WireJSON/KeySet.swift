/// The names of an object with many members, as a hash set, so that the time to find repeated names is not quadratic.
struct KeySet: Sendable {
  /// The number of members up to which searching the object itself is faster than a hash set.
  static let maxLinearSearch = 16
  private var keys: Set<ExactText> = []

  /// Inserts a name. The first call also inserts the names of the object's present members. Returns false if the name was there already.
  mutating func insert(_ key: String, after object: JSONObject) -> Bool {
    if keys.isEmpty { keys = Set(object.members.map { ExactText($0.key) }) }
    return keys.insert(ExactText(key)).inserted
  }
}
