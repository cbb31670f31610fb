/// The header of the PROXY protocol, versions 1 (a line of text) and 2 (binary). A proxy sends it at the start of a forwarded connection to
/// tell the client's address. `ProxyHeaderReader.swift` reads it from a connection.
struct ProxyHeader: Sendable, Hashable {
  /// The origin of the connection.
  enum Origin: Sendable, Hashable {
    case client(IPAddress)
    /// The proxy itself, for a health check.
    case proxy
    /// A client without a known internet address.
    case unknown
  }

  /// The result of parsing a connection's first bytes.
  enum Reading: Sendable, Hashable {
    /// The beginning of a header; more bytes are needed.
    case incomplete
    case whole(ProxyHeader)
    /// The bytes are not a valid header, or the header is too long.
    case refused
  }

  /// The maximum length of a line of version 1 including its end, bytes.
  static let maxLineLength = 107
  /// The maximum length of a header of version 2, bytes.
  static let maxLength = fixedLength + 0xFFFF

  let origin: Origin
  /// The length of the header, bytes. The client's data follows it.
  let length: Int

  private static let lineStart = Array("PROXY ".utf8)
  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
  private static let fixedLength = 16

  /// Parses the first bytes of a connection. Bytes after the header are not read.
  ///
  /// - Parameter limit: the maximum length of a header, bytes.
  static func read(_ bytes: [UInt8], limit: Int) -> Reading {
    func begins(with start: [UInt8]) -> Bool { bytes.prefix(start.count).elementsEqual(start.prefix(bytes.count)) }
    if begins(with: lineStart) { return bytes.count < lineStart.count ? .incomplete : line(bytes, limit: min(limit, maxLineLength)) }
    if begins(with: signature) { return bytes.count < fixedLength ? .incomplete : binary(bytes, limit: limit) }
    return .refused
  }

  // MARK: Version 1

  /// `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443`, ended by CR and LF.
  private static func line(_ bytes: [UInt8], limit: Int) -> Reading {
    let window = bytes.prefix(limit)
    guard let end = window.firstIndex(of: 10) else { return window.count < limit ? .incomplete : .refused }
    guard window[end - 1] == 13 else { return .refused }
    let parts = window[..<(end - 1)].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
    // For UNKNOWN, the specification demands that the rest of the line is ignored.
    if parts.count > 1, parts[1] == "UNKNOWN" { return .whole(ProxyHeader(origin: .unknown, length: end + 1)) }
    guard parts.count == 6, let source = address(parts[2], family: parts[1]), address(parts[3], family: parts[1]) != nil,
      isPort(parts[4]), isPort(parts[5])
    else { return .refused }
    return .whole(ProxyHeader(origin: .client(source), length: end + 1))
  }

  private static func address(_ text: String, family: String) -> IPAddress? {
    switch family {
    case "TCP4" where !text.contains(":"), "TCP6" where text.contains(":"): try? IPAddress(validating: text)
    default: nil
    }
  }

  private static func isPort(_ text: String) -> Bool { UInt16(text).map { String($0) == text } ?? false }

  // MARK: Version 2

  private static func binary(_ bytes: [UInt8], limit: Int) -> Reading {
    let length = fixedLength + (Int(bytes[14]) << 8 | Int(bytes[15]))
    let (version, command) = (bytes[12] >> 4, bytes[12] & 15)
    let (family, transport) = (bytes[13] >> 4, bytes[13] & 15)
    guard version == 2, command <= 1, length <= limit else { return .refused }
    // The command LOCAL: the proxy itself opened the connection, and everything after the fixed part is ignored.
    let isLocal = command == 0
    guard isLocal || family <= 3 && transport <= 2 else { return .refused }
    // The size of the addresses and ports by family: unspecified, IPv4, IPv6, Unix.
    let addressBytes = [0, 12, 36, 216][isLocal || transport == 0 ? 0 : Int(family)]
    guard length >= fixedLength + addressBytes else { return .refused }
    guard bytes.count >= length else { return .incomplete }
    guard !isLocal else { return .whole(ProxyHeader(origin: .proxy, length: length)) }
    guard addressBytes == 0 || hasValidVectors(bytes[..<length], after: fixedLength + addressBytes) else { return .refused }
    let origin: Origin =
      switch (family, transport) {
      case (1, 1): .client(IPAddress(bits: IPAddress.v4Prefix | number(bytes[16..<20])))
      case (2, 1): .client(IPAddress(bits: number(bytes[16..<32])))
      // The listener accepts TCP only, so an origin over a Unix socket or UDP has no client address that could be used.
      default: .unknown
      }
    return .whole(ProxyHeader(origin: origin, length: length))
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
}
