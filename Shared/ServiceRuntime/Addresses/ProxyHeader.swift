/// What a proxy sends in front of a connection that it passes on: who is at the other end of it (the PROXY protocol, versions 1 and 2).
struct ProxyHeader: Sendable, Hashable {
  /// Who the connection comes from.
  enum Origin: Sendable, Hashable {
    case client(IPAddress)
    /// The proxy itself, which looks whether we are well.
    case proxy
    /// A client of which the proxy knows no address of the Internet.
    case unknown
  }

  /// What a connection's first bytes are.
  enum Reading: Sendable, Hashable {
    /// The beginning of a header.
    case incomplete
    case whole(ProxyHeader)
    /// No header, or a longer one than is taken.
    case refused
  }

  /// The longest line of version 1, its end included, bytes.
  static let longestLine = 107
  /// The longest header of version 2, bytes.
  static let longest = fixedLength + 0xFFFF

  let origin: Origin
  /// Bytes of the header; behind them begins what the client sent.
  let length: Int

  private static let lineStart = Array("PROXY ".utf8)
  private static let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
  private static let fixedLength = 16

  /// Looks at what has come of a connection. No byte behind the header is looked at.
  ///
  /// - Parameter limit: the longest header that is taken, bytes.
  static func read(_ bytes: [UInt8], limit: Int) -> Reading {
    func begins(with start: [UInt8]) -> Bool { bytes.prefix(start.count).elementsEqual(start.prefix(bytes.count)) }
    if begins(with: lineStart) { return bytes.count < lineStart.count ? .incomplete : line(bytes, limit: min(limit, longestLine)) }
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
    // What else the line of an unknown one says is to be passed over.
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
    let isOwn = command == 0
    // Of a connection of the proxy's own, the rest says nothing.
    guard isOwn || family <= 3 && transport <= 2 else { return .refused }
    let block = [0, 12, 36, 216][isOwn || transport == 0 ? 0 : Int(family)]
    guard length >= fixedLength + block else { return .refused }
    guard bytes.count >= length else { return .incomplete }
    guard !isOwn else { return .whole(ProxyHeader(origin: .proxy, length: length)) }
    guard block == 0 || hasProperVectors(bytes[..<length], after: fixedLength + block) else { return .refused }
    let origin: Origin =
      switch (family, transport) {
      case (1, 1): .client(IPAddress(bits: IPAddress.v4Prefix | number(bytes[16..<20])))
      case (2, 1): .client(IPAddress(bits: number(bytes[16..<32])))
      // Sockets of a machine, or packets: nothing that this listener takes.
      default: .unknown
      }
    return .whole(ProxyHeader(origin: origin, length: length))
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt128 { bytes.reduce(0) { $0 << 8 | UInt128($1) } }
}
