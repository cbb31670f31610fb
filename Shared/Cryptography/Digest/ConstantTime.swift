import COpenSSL

/// Comparison whose duration does not reveal where two secrets differ.
public enum ConstantTime {
  /// True if the bytes are equal. The time reveals only whether their numbers differ.
  public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }

  /// The last index at which a list contains a value; nil if it does not. All elements are compared, so that the time does not reveal which
  /// of them is equal.
  public static func index(of value: [UInt8], in list: some Sequence<[UInt8]>) -> Int? {
    var found: Int?
    for (index, element) in list.enumerated() where equal(element, value) { found = index }
    return found
  }
}
