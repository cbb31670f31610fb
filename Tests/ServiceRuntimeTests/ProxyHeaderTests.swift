import TestSupport
import Testing

@testable import ServiceRuntime

@Suite struct ProxyHeaderTests {
  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
  private static let addresses4: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 1, 0xDB, 0xFC, 0x01, 0xBB]
  private static let addresses6: [UInt8] =
    [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [1] + [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [2]
    + [0xDB, 0xFC, 0x01, 0xBB]

  private static func binary(_ versionAndCommand: UInt8, _ family: UInt8, _ block: [UInt8]) -> [UInt8] {
    signature + [versionAndCommand, family, UInt8(block.count >> 8), UInt8(block.count & 0xFF)] + block
  }

  private func read(_ bytes: [UInt8], limit: Int = 2048) -> ProxyHeader.Reading { ProxyHeader.read(bytes, limit: limit) }
  private func read(_ text: String, limit: Int = 2048) -> ProxyHeader.Reading { read(Array(text.utf8), limit: limit) }

  private func origin(_ bytes: [UInt8]) -> ProxyHeader.Origin? {
    guard case .whole(let header) = read(bytes), header.length == bytes.count else { return nil }
    return header.origin
  }

  private static func client(_ text: String) throws -> ProxyHeader.Origin { .client(try IPAddress(validating: text)) }

  // MARK: Version 1

  @Test(arguments: [
    ("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", "192.0.2.1"),
    ("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255"),
    ("PROXY TCP4 0.0.0.0 0.0.0.0 0 0\r\n", "0.0.0.0"),
    ("PROXY TCP6 2001:db8::1 2001:db8::2 56324 443\r\n", "2001:db8::1"),
    (
      "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
      "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
    ),
    ("PROXY TCP6 ::ffff:192.0.2.1 ::1 1 2\r\n", "192.0.2.1"),
  ])
  func `A line contains the client's address`(line: String, address: String) throws {
    #expect(origin(Array(line.utf8)) == (try Self.client(address)))
  }

  @Test(arguments: ["PROXY UNKNOWN\r\n", "PROXY UNKNOWN ffff::1 x y z\r\n", "PROXY UNKNOWN \u{0}\u{FF}\r\r\n"])
  func `A client that the proxy declares unknown is unknown, even if its line has an address`(_ line: String) {
    #expect(origin(Array(line.utf8)) == .unknown)
  }

  @Test func `A line has at most 107 bytes`() {
    let start = "PROXY UNKNOWN "
    let longest = start + String(repeating: "x", count: 107 - start.utf8.count - 2) + "\r\n"
    #expect(read(longest) == .whole(ProxyHeader(origin: .unknown, length: 107)))
    #expect(read(String(longest.dropLast(1))) == .incomplete)
    #expect(read(start + String(repeating: "x", count: 107 - start.utf8.count - 1) + "\r\n") == .refused)
    #expect(read(start + String(repeating: "x", count: 5000)) == .refused)
  }

  @Test(arguments: [
    "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\n", "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\r\n",
    "PROXY TCP4 192.0.2.1 198.51.100.1 56324\r\n", "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 1\r\n",
    "PROXY  TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 \r\n",
    "PROXY TCP4 192.0.2.1\t198.51.100.1 56324 443\r\n", "PROXY TCP4 192.0.2.1 198.51.100.1 65536 443\r\n",
    "PROXY TCP4 192.0.2.1 198.51.100.1 056 443\r\n", "PROXY TCP4 192.0.2.1 198.51.100.1 +56 443\r\n",
    "PROXY TCP4 192.0.2.1 198.51.100.1 56 -1\r\n", "PROXY TCP4 192.0.2.256 198.51.100.1 56324 443\r\n",
    "PROXY TCP4 192.0.2.1 198.51.100 56324 443\r\n", "PROXY TCP4 192.0.02.1 198.51.100.1 56324 443\r\n",
    "PROXY TCP4 ::1 ::1 56324 443\r\n", "PROXY TCP6 192.0.2.1 198.51.100.1 56324 443\r\n", "PROXY TCP6 ::1%lo ::1 1 2\r\n",
    "PROXY TCP4 192.0.2.1\u{0} 198.51.100.1 56324 443\r\n", "PROXY TCP5 192.0.2.1 198.51.100.1 56324 443\r\n",
    "PROXY UDP4 1.1.1.1 2.2.2.2 1 2\r\n",
    "PROXY tcp4 192.0.2.1 198.51.100.1 56324 443\r\n", "PROXY UNKNOWNX\r\n", "PROXY \r\n", "PROXY \u{301}TCP4\r\n", "PROXY \n", "PROXY\r\n",
    "proxy TCP4 192.0.2.1 198.51.100.1 56324 443\r\n", " PROXY UNKNOWN\r\n", "GET / HTTP/1.1\r\n", "\r\n\r\nG", "P!", "\u{16}\u{3}\u{1}",
  ])
  func `A line with a small mistake is refused`(_ line: String) { #expect(read(line) == .refused) }

  // MARK: Version 2

  @Test func `A binary header contains the client's address`() throws {
    #expect(origin(Self.binary(0x21, 0x11, Self.addresses4)) == (try Self.client("192.0.2.1")))
    #expect(origin(Self.binary(0x21, 0x21, Self.addresses6)) == (try Self.client("2001:db8::1")))
    let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF, 192, 0, 2, 1]
    #expect(origin(Self.binary(0x21, 0x21, mapped + mapped + [0, 1, 0, 2])) == (try Self.client("192.0.2.1")))
  }

  /// A type-length-value field of this length without meaning.
  private static func nothing(_ count: Int) -> [UInt8] {
    [0x04, UInt8((count - 3) >> 8), UInt8((count - 3) & 0xFF)] + [UInt8](repeating: 0xFF, count: count - 3)
  }

  @Test(arguments: [[0xEE, 0, 0], [0x20, 0, 1, 7], [0x02, 0, 2, 0xAA, 0xBB, 0x04, 0, 0]] as [[UInt8]])
  func `Type-length-value fields after the addresses are ignored`(_ more: [UInt8]) throws {
    #expect(origin(Self.binary(0x21, 0x11, Self.addresses4 + more)) == (try Self.client("192.0.2.1")))
  }

  @Test(arguments: [[0x04], [0x04, 0], [0x04, 0, 1], [0x04, 0xFF, 0xFF, 1], [0x04, 0, 0, 0x05]] as [[UInt8]])
  func `An incomplete type-length-value field is refused`(_ more: [UInt8]) {
    #expect(read(Self.binary(0x21, 0x11, Self.addresses4 + more)) == .refused)
    #expect(read(Self.binary(0x21, 0x21, Self.addresses6 + more)) == .refused)
  }

  // MARK: Checksum

  @Test func `The checksum is that of the standard's example`() {
    #expect(ProxyHeader.crc32c(Array("123456789".utf8)) == 0xE306_9283)
    #expect(ProxyHeader.crc32c([UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
  }

  /// A header with a checksum between two other fields.
  private static func summed() -> [UInt8] {
    var header = binary(0x21, 0x11, addresses4 + nothing(5) + [3, 0, 4, 0, 0, 0, 0] + nothing(3))
    let sum = ProxyHeader.crc32c(header)
    for index in 0..<4 { header[36 + index] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt32(index))) }
    return header
  }

  @Test func `A header with a valid checksum is accepted, and one with any changed bit never names another client`() throws {
    let whole = Self.summed()
    let client = try Self.client("192.0.2.1")
    #expect(origin(whole) == client)
    for index in 16..<whole.count {
      for bit in 0..<8 {
        var changed = whole
        changed[index] ^= 1 << bit
        // The field with a changed type is no checksum any more and is ignored.
        if index == 33 { #expect(read(changed) == .refused || origin(changed) == client) } else { #expect(read(changed) == .refused) }
      }
    }
  }

  @Test func `A checksum of another length and a second checksum are refused`() {
    #expect(read(Self.binary(0x21, 0x11, Self.addresses4 + [3, 0, 3, 0, 0, 0])) == .refused)
    #expect(read(Self.binary(0x21, 0x11, Self.addresses4 + [3, 0, 0])) == .refused)
    #expect(read(Self.binary(0x21, 0x11, Self.addresses4 + [3, 0, 4, 0, 0, 0, 0, 3, 0, 4, 0, 0, 0, 0])) == .refused)
  }

  @Test func `A local connection of the proxy counts as the proxy`() {
    #expect(origin(Self.binary(0x20, 0x00, [])) == .proxy)
    #expect(origin(Self.binary(0x20, 0x11, Self.addresses4)) == .proxy)
    #expect(origin(Self.binary(0x20, 0xFF, [1])) == .proxy)
  }

  @Test(
    arguments: [(0x00, 7), (0x01, 7), (0x10, 7), (0x12, 12), (0x20, 7), (0x22, 36), (0x30, 7), (0x31, 216), (0x32, 216)] as [(UInt8, Int)])
  func `A client without a TCP address is unknown`(family: UInt8, length: Int) {
    #expect(origin(Self.binary(0x21, family, [UInt8](repeating: 1, count: length))) == .unknown)
  }

  @Test func `An invalid header of version 2 is refused`() {
    for command: UInt8 in 0...255 where command != 0x20 && command != 0x21 {
      #expect(read(Self.binary(command, 0x11, Self.addresses4)) == .refused)
    }
    for family: UInt8 in 0...255 where family >> 4 > 3 || family & 15 > 2 {
      #expect(read(Self.binary(0x21, family, [UInt8](repeating: 1, count: 216))) == .refused)
    }
    for index in Self.signature.indices {
      var bytes = Self.binary(0x21, 0x11, Self.addresses4)
      bytes[index] ^= 0x20
      #expect(read(bytes) == .refused)
    }
  }

  @Test(arguments: [(0x11, 12), (0x12, 12), (0x21, 36), (0x22, 36), (0x31, 216), (0x32, 216)] as [(UInt8, Int)])
  func `A header must be long enough for the addresses of its family`(family: UInt8, length: Int) {
    #expect(origin(Self.binary(0x21, family, [UInt8](repeating: 1, count: length))) != nil)
    #expect(read(Self.binary(0x21, family, [UInt8](repeating: 1, count: length - 1))) == .refused)
  }

  @Test func `A header of the maximum length is accepted and a longer one is refused`() {
    let limit = 300
    let longest = Self.binary(0x21, 0x11, Self.addresses4 + Self.nothing(limit - 28))
    #expect(longest.count == limit && read(longest, limit: limit) == .whole(ProxyHeader(origin: origin(longest)!, length: limit)))
    let longer = Self.binary(0x21, 0x11, Self.addresses4 + Self.nothing(limit - 27))
    #expect(read(Array(longer.prefix(16)), limit: limit) == .refused)
    let own = Self.binary(0x20, 0x00, [UInt8](repeating: 0, count: 0xFFFF))
    #expect(read(own, limit: ProxyHeader.maxLength) == .whole(ProxyHeader(origin: .proxy, length: ProxyHeader.maxLength)))
  }

  // MARK: Both

  private static let wholes: [[UInt8]] = [
    Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n".utf8), Array("PROXY TCP6 2001:db8::1 ::1 1 2\r\n".utf8),
    Array("PROXY UNKNOWN\r\n".utf8), binary(0x21, 0x11, addresses4), binary(0x21, 0x21, addresses6 + [4, 0, 0]), binary(0x20, 0, []),
  ]

  @Test(arguments: wholes)
  func `An incomplete header waits for any number of bytes, and later bytes are not read`(_ whole: [UInt8]) {
    for count in whole.indices { #expect(read(Array(whole.prefix(count))) == .incomplete) }
    let reading = read(whole)
    for rest in ["G", "GET / HTTP/1.1\r\n\r\n", "PROXY UNKNOWN\r\n", "\u{0}"] { #expect(read(whole + Array(rest.utf8)) == reading) }
  }

  @Test func `Any bytes are parsed without a crash, and the result does not depend on later bytes`() {
    var random = SeededRandom(seed: 11)
    for _ in 0..<100_000 {
      var bytes = Self.wholes.randomElement(using: &random)!
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...3, using: &random) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &random)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        default: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &random)
        }
        if bytes.isEmpty { bytes = [0] }
      }
      let limit = Int.random(in: 107...600, using: &random)
      let reading = read(bytes, limit: limit)
      let more = bytes + (0..<8).map { _ in UInt8.random(in: 0...255, using: &random) }
      switch reading {
      case .whole(let header):
        #expect(header.length <= min(limit, bytes.count))
        #expect(read(more, limit: limit) == reading)
        #expect(read(Array(bytes.prefix(header.length - 1)), limit: limit) == .incomplete)
      case .refused: #expect(read(more, limit: limit) == .refused)
      case .incomplete: #expect(bytes.count < limit)
      }
    }
  }
}
