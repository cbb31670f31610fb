import COpenSSL

/// Comparison whose duration does not reveal where two secrets differ.
public enum ConstantTime {
  public static func equal(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0
  }

  /// The place of a value in a list, the last one if it occurs twice; nil if it does not occur. All elements are compared, so that the time
  /// does not reveal which one is equal.
  public static func place(of value: [UInt8], in list: some Sequence<[UInt8]>) -> Int? {
    var found: Int?
    for (place, element) in list.enumerated() where equal(element, value) { found = place }
    return found
  }
}
