public import WireJSON

/// The fields of a message that were already read. A repeated field is an error, whichever of its two names it uses.
public struct FieldSet: Sendable {
  private var bits: UInt64 = 0

  public init() {}

  /// Throws if the field was already read.
  @inline(__always)
  public mutating func insert(_ field: Int, _ name: String) throws(JSONError) {
    let bit: UInt64 = 1 << UInt64(field)
    guard bits & bit == 0 else { throw JSONError(.duplicateKey(name)) }
    bits |= bit
  }
}
