public import WireJSON

/// Which fields of a message were read already: a repeat is an error, whichever of its two names it uses.
public struct FieldSet: Sendable {
  private var bits: UInt64 = 0

  public init() {}

  /// Throws for a field that was there before.
  @inline(__always)
  public mutating func insert(_ field: Int, _ name: String) throws(JSONError) {
    let bit: UInt64 = 1 << UInt64(field)
    guard bits & bit == 0 else { throw JSONError(.duplicateKey(name)) }
    bits |= bit
  }
}
