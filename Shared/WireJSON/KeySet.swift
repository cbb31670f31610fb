/// The names an object has had so far: a short list while it is small, a hash set beyond, so that an object of many names
/// costs no quadratic time.
public struct KeySet: Sendable {
  /// So many are looked through.
  static let few = 16
  private var few: [String] = []
  private var many: Set<ExactText> = []

  public init() {}

  /// False when the name was there already.
  public mutating func insert(_ key: String) -> Bool {
    if many.isEmpty {
      if few.contains(where: { $0.isExactly(key) }) { return false }
      few.append(key)
      if few.count == Self.few { many = Set(few.map { ExactText($0) }) }
      return true
    }
    return many.insert(ExactText(key)).inserted
  }

  /// The same for a name behind those that an object has already.
  mutating func insert(_ key: String, after object: JSONObject) -> Bool {
    if many.isEmpty { many = Set(object.members.map { ExactText($0.key) }) }
    return many.insert(ExactText(key)).inserted
  }
}
