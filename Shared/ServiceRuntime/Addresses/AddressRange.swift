/// A range of addresses with a common prefix (CIDR), such as `17.0.0.0/8` or `2001:db8::/32`, or a single address.
public struct AddressRange: Sendable, Hashable, CustomStringConvertible {
  private let first: UInt128
  private let mask: UInt128
  public let description: String

  /// Throws ``AddressError`` if the text is neither a range nor an address, and if bits after the prefix are set, as in `17.0.0.1/8`: such
  /// a range is most likely a mistake.
  public init(validating text: String) throws(AddressError) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    let address = try IPAddress(validating: String(parts[0]))
    let width = address.isIPv4 && !parts[0].contains(":") ? 32 : 128
    var length = width
    if parts.count == 2 {
      guard let number = Int(parts[1]), String(number) == parts[1], (0...width).contains(number) else {
        throw AddressError("'\(text.prefix(64))' must end in /0 to /\(width)")
      }
      length = number
    }
    let bits = 128 - width + length
    mask = bits == 0 ? 0 : UInt128.max << (128 - bits)
    first = address.bits
    description = text
    guard first & ~mask == 0 else { throw AddressError("'\(text.prefix(64))' has bits set after its first \(length)") }
  }

  public func contains(_ address: IPAddress) -> Bool { address.bits & mask == first }
}

extension [AddressRange] {
  func contains(_ address: IPAddress) -> Bool { contains { $0.contains(address) } }
}
