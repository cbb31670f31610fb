import NIOHTTP1

/// The proxies whose headers are trusted to name the client's address (`edge.trustedProxies`). The PROXY protocol is separate: see
/// `ProxyHeader.swift`.
public struct TrustedProxies: Sendable, Hashable {
  /// The one header that the proxies write. If both headers were trusted, a client could write the one that the proxies pass on unchanged.
  public enum Header: String, Sendable, CaseIterable {
    case xForwardedFor = "X-Forwarded-For"
    case forwarded = "Forwarded"
  }

  public var ranges: [AddressRange]
  public var header: Header

  public init(ranges: [AddressRange] = [], header: Header = .xForwardedFor) {
    self.ranges = ranges
    self.header = header
  }

  /// The client that a request's headers name.
  public struct Client: Sendable, Hashable {
    /// If the client's address is not known, the address of the proxy that passed its request on.
    public var address: IPAddress?
    /// True if the proxy does not name its client's address. Such a client has none of the proxy's permissions.
    public var isUnknown = false
  }

  /// The client is the rightmost entry of the header that is not a trusted proxy's address. Entries to its left may be forged. Without a trusted proxy
  /// as peer, the peer is the client.
  ///
  /// An entry that is not an address belongs to a client that is not known. If all addresses are trusted proxies, the leftmost one counts.
  public func client(peer: IPAddress?, headers: HTTPHeaders) -> Client {
    guard let peer, ranges.contains(peer) else { return Client(address: peer) }
    var client = peer
    for hop in hops(headers).reversed() {
      guard let address = Self.address(hop) else { return Client(address: client, isUnknown: true) }
      client = address
      guard ranges.contains(address) else { break }
    }
    return Client(address: client)
  }

  /// The header's entries from left to right. Each proxy adds the address of its peer at the end. A comma ends an entry inside of quotes too: the quotes
  /// may be the client's, and must not make the proxy's entry a part of the client's. No address contains a comma.
  private func hops(_ headers: HTTPHeaders) -> [Substring] {
    let lines = headers[header.rawValue]
    switch header {
    case .xForwardedFor: return lines.flatMap { Self.split($0[...], at: ",") }
    case .forwarded:
      return lines.flatMap { Self.split($0[...], at: ",") }.map { element in
        let pairs = Self.split(element, at: ";").filter { $0.prefix(4).lowercased() == "for=" }
        // An element whose `for` is missing or repeated counts as an entry without an address.
        return pairs.count == 1 ? pairs[0].dropFirst(4) : ""
      }
    }
  }

  private static func split(_ text: Substring, at separator: Character) -> [Substring] {
    text.split(separator: separator, omittingEmptySubsequences: false).map(\.trimmed)
  }

  /// Parses an entry such as `192.0.2.1`, `192.0.2.1:4711`, `2001:db8::1` or `"[2001:db8::1]:4711"`.
  private static func address(_ text: Substring) -> IPAddress? {
    var text = text
    if text.first == "\"", text.last == "\"", text.count >= 2 { text = text.dropFirst().dropLast() }
    if text.first == "[" {
      guard let end = text.firstIndex(of: "]"), isPort(text[text.index(after: end)...]) else { return nil }
      text = text[text.index(after: text.startIndex)..<end]
    } else if let colon = text.firstIndex(of: ":"), text.lastIndex(of: ":") == colon {
      guard isPort(text[colon...]) else { return nil }
      text = text[..<colon]
    }
    return try? IPAddress(validating: String(text))
  }

  private static func isPort(_ text: Substring) -> Bool {
    text.isEmpty || text.first == ":" && UInt16(text.dropFirst()) != nil
  }
}

extension Substring {
  fileprivate var trimmed: Substring {
    var rest = self
    while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return rest
  }
}
