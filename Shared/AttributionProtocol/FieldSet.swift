public import WireJSON

/// The fields of a message that were already read. A repeated field is an error, whichever of its two names (`adNetworkId`,
/// `ad_network_id`) it uses. The generated messages call it.
public struct FieldSet: Sendable {
  private var bits: UInt64 = 0

  public init() {}

  /// Throws `duplicateKey` if the field was already read.
  ///
  /// - Parameters:
  ///   - field: the index of the field in its message, 0 to 63. No message of the contract has more fields; repetitions of further ones
  ///     would not be found.
  ///   - name: the name that the sender used, for the error.
  @inline(__always)
  public mutating func insert(_ field: Int, _ name: String) throws(JSONError) {
    let bit: UInt64 = 1 << UInt64(field)
    guard bits & bit == 0 else { throw JSONError(.duplicateKey(name)) }
    bits |= bit
  }
}
