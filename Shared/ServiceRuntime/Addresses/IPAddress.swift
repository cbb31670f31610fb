#if canImport(Glibc)
  import Glibc
#endif

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address (`::ffff:17.0.0.1`) is equal to the IPv4 address that it contains.
public struct IPAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address as 128 bits; an IPv4 address is stored as `::ffff:a.b.c.d`.
  let bits: UInt128

  static let v4Prefix = UInt128(0xFFFF) << 32

  init(bits: UInt128) { self.bits = bits }

  /// Reads `17.1.2.3` or `2001:db8::1`, without brackets, port or zone. Throws ``AddressError``.
  public init(validating text: String) throws(AddressError) {
    // inet_pton reads a C string, so it would ignore everything after a zero byte.
    guard !text.utf8.contains(0) else { throw AddressError("'\(text.prefix(64))' is not an IP address") }
    var v4 = in_addr()
    if inet_pton(AF_INET, text, &v4) == 1 {
      bits = Self.v4Prefix | UInt128(UInt32(bigEndian: v4.s_addr))
      return
    }
    var v6 = in6_addr()
    guard inet_pton(AF_INET6, text, &v6) == 1 else { throw AddressError("'\(text.prefix(64))' is not an IP address") }
    bits = withUnsafeBytes(of: &v6) { bytes in bytes.reduce(0) { $0 << 8 | UInt128($1) } }
  }

  /// An address from 4 or 16 bytes in network order; nil for any other count.
  public init?(networkOrder bytes: [UInt8]) {
    let value = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
    switch bytes.count {
    case 4: bits = Self.v4Prefix | value
    case 16: bits = value
    default: return nil
    }
  }

  public var isIPv4: Bool { bits >> 32 == 0xFFFF }

  /// The last 32 bits as an IPv4 address. IPv6 addresses that stand for an IPv4 address end with it (RFC 6052, `64:ff9b::17.0.0.1`).
  public var lastIPv4: IPAddress { IPAddress(bits: Self.v4Prefix | bits & 0xFFFF_FFFF) }

  /// The smallest unit that a network gives to one customer: an IPv4 address, or the first 64 bits of an IPv6 address.
  public var network: IPAddress { isIPv4 ? self : IPAddress(bits: (bits >> 64) << 64) }

  public var description: String {
    if isIPv4 { return (0..<4).map { String(UInt8(truncatingIfNeeded: bits >> (24 - 8 * UInt128($0)))) }.joined(separator: ".") }
    return (0..<8).map { String(UInt16(truncatingIfNeeded: bits >> (112 - 16 * UInt128($0))), radix: 16) }.joined(separator: ":")
  }
}

/// The error of an invalid address or range of addresses.
public struct AddressError: Error, Sendable, Hashable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
