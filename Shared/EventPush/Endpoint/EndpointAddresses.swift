public import ServiceRuntime

/// The addresses that endpoints may have: public ones, and those that the configuration allows.
///
/// The caller who creates a subscription chooses the URL. Without this rule it could make the service post into its own network, or to a
/// cloud's metadata service (server-side request forgery).
public struct EndpointAddresses: Sendable {
  private let allowed: [AddressRange]

  /// - Parameter allowed: ranges that are allowed although they are not public.
  public init(allowed: [AddressRange] = []) { self.allowed = allowed }

  /// True if a connection to an address of 4 or 16 bytes, in network order, is allowed. False for any other size.
  public func allows(_ bytes: [UInt8]) -> Bool { IPAddress(networkOrder: bytes).map(allows) ?? false }

  /// True if a connection to an address is allowed. An IPv4 address inside IPv6 (`::ffff:10.0.0.1`) counts as that IPv4 address.
  public func allows(_ address: IPAddress) -> Bool {
    if allowed.contains(where: { $0.contains(address) }) { return true }
    if address.isIPv4 { return !Self.reservedIPv4.contains { $0.contains(address) } }
    // A NAT64 translator forwards connections to this prefix to the IPv4 address in the last four bytes (RFC 6052).
    if Self.translated.contains(address) { return allows(address.lastIPv4) }
    return Self.globalUnicast.contains(address) && !Self.reservedIPv6.contains { $0.contains(address) }
  }

  private static func ranges(_ texts: [String]) -> [AddressRange] { texts.compactMap { try? AddressRange(validating: $0) } }

  /// IANA IPv4 Special-Purpose Address Registry, multicast, and `168.63.129.16`, at which virtual machines of Azure reach their host
  /// (WireServer).
  static let reservedIPv4 = ranges([
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
    "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    "168.63.129.16",
  ])
  /// The IPv6 addresses of public hosts. All others are loopback, link-local, unique local, multicast or not assigned.
  static let globalUnicast = ranges(["2000::/3"])[0]
  /// IANA IPv6 Special-Purpose Address Registry inside ``globalUnicast``: protocol assignments with Teredo, documentation, and 6to4.
  static let reservedIPv6 = ranges(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"])
  /// The well-known prefix of NAT64.
  static let translated = ranges(["64:ff9b::/96"])[0]
}
