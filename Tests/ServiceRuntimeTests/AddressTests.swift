import NIOHTTP1
import Testing

@testable import ServiceRuntime

@Suite struct AddressTests {
  private func address(_ text: String) throws -> IPAddress { try IPAddress(validating: text) }

  @Test(arguments: ["17.0.0.1", "255.255.255.255", "::1", "2001:db8::1", "::ffff:17.0.0.1"])
  func `A valid address is parsed`(_ text: String) throws { _ = try address(text) }

  @Test(arguments: [
    "", "17", "17.0.0", "17.0.0.256", "017.0.0.1", "17.0.0.1 ", "[::1]", "::1%eth0", "2001:db8::1::2", "apple.com", "17.0.0.1:80",
    "17.0.0.1\u{0}", "::1\u{0}x",
  ])
  func `An invalid address is refused`(_ text: String) { #expect(throws: AddressError.self) { try address(text) } }

  @Test func `An IPv4 address inside IPv6 is that address`() throws {
    #expect(try address("::ffff:17.0.0.1") == address("17.0.0.1"))
    #expect(try AddressRange(validating: "17.0.0.0/8").contains(address("::ffff:17.200.1.2")))
  }

  @Test(arguments: [
    ("17.0.0.0/8", "17.0.0.0", true), ("17.0.0.0/8", "17.255.255.255", true), ("17.0.0.0/8", "16.255.255.255", false),
    ("17.0.0.0/8", "18.0.0.0", false), ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3", "10.1.2.2", false),
    ("10.1.2.2/31", "10.1.2.3", true), ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "::1", false), ("::/0", "1.2.3.4", true),
    ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/32", "2001:db9::", false), ("::1/128", "::1", true), ("::1", "::2", false),
  ])
  func `A range contains its first and last address and no others outside`(range: String, text: String, isIn: Bool) throws {
    #expect(try AddressRange(validating: range).contains(address(text)) == isIn)
  }

  @Test(arguments: [
    "17.0.0.0/33", "17.0.0.0/-1", "17.0.0.0/+8", "17.0.0.0/08", "17.0.0.0/", "17.0.0.1/8", "::/129", "2001:db8::1/32", "/8", "17/8",
  ])
  func `An invalid range is refused`(_ text: String) { #expect(throws: AddressError.self) { try AddressRange(validating: text) } }

  @Test func `A customer of IPv6 has a network of 64 bits`() throws {
    #expect(try address("2001:db8:1:2:3::4").network == address("2001:db8:1:2::").network)
    #expect(try address("2001:db8:1:3::").network != address("2001:db8:1:2::").network)
    #expect(try address("10.0.0.1").network != address("10.0.0.2").network)
  }

  // MARK: Proxies

  private func client(_ peer: String, _ fields: [(String, String)], header: TrustedProxies.Header = .xForwardedFor) throws -> String? {
    let proxies = TrustedProxies(
      ranges: [try AddressRange(validating: "10.0.0.0/8"), try AddressRange(validating: "2001:db8::/32")], header: header)
    let found = proxies.client(peer: try address(peer), headers: HTTPHeaders(fields))
    return found.address.map { (found.isUnknown ? "unknown behind " : "") + $0.description }
  }

  @Test(arguments: [
    // The header counts only if it comes from a proxy.
    ("192.0.2.1", ["1.2.3.4"], "192.0.2.1"),
    ("10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
    ("10.0.0.1", [], "10.0.0.1"),
    // The client's own entries are on the left.
    ("10.0.0.1", ["17.0.0.1, 1.2.3.4"], "1.2.3.4"),
    ("10.0.0.1", ["17.0.0.1, 1.2.3.4, 10.0.0.2"], "1.2.3.4"),
    ("10.0.0.1", ["17.0.0.1, 1.2.3.4", "10.0.0.2"], "1.2.3.4"),
    ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
    // An entry that is no address is of a client that is not known.
    ("10.0.0.1", ["1.2.3.4, unknown, 10.0.0.2"], "unknown behind 10.0.0.2"),
    ("10.0.0.1", ["1.2.3.4,"], "unknown behind 10.0.0.1"),
    ("10.0.0.1", ["1.2.3.4:5678"], "1.2.3.4"),
    ("10.0.0.1", ["[2001:db9::1]:5678"], "2001:db9:0:0:0:0:0:1"),
    ("10.0.0.1", ["2001:db9::1"], "2001:db9:0:0:0:0:0:1"),
    ("10.0.0.1", ["1.2.3.4:x"], "unknown behind 10.0.0.1"),
    // Quotes of the client's do not reach into the entry of the proxy.
    ("10.0.0.1", ["\"x, 203.0.113.9"], "203.0.113.9"),
    ("10.0.0.1", ["\"10.0.0.7, \"x, 203.0.113.9, 10.0.0.2"], "203.0.113.9"),
    ("10.0.0.1", ["\"203.0.113.9\""], "203.0.113.9"),
    ("2001:db8::9", ["1.2.3.4"], "1.2.3.4"),
    ("::ffff:10.0.0.1", ["1.2.3.4"], "1.2.3.4"),
  ])
  func `The rightmost address that is no proxy's is the client's`(peer: String, lines: [String], expected: String) throws {
    #expect(try client(peer, lines.map { ("x-forwarded-for", $0) }) == expected)
  }

  @Test(arguments: [
    ("for=1.2.3.4", "1.2.3.4"), ("for=17.0.0.1, for=1.2.3.4;proto=https", "1.2.3.4"), ("For=\"[2001:db9::1]:47\"", "2001:db9:0:0:0:0:0:1"),
    ("by=9.9.9.9;for=1.2.3.4", "1.2.3.4"), ("for=1.2.3.4, for=_hidden", "unknown behind 10.0.0.1"), ("for=\"a, for=1.2.3.4", "1.2.3.4"),
    ("for=\"a;b, by=9.9.9.9;for=1.2.3.4", "1.2.3.4"),
    ("by=9.9.9.9", "unknown behind 10.0.0.1"), ("for=1.2.3.4;for=5.6.7.8", "unknown behind 10.0.0.1"),
    ("for=1.2.3.4, for=\"10.0.0.7:8\"", "1.2.3.4"),
  ])
  func `The header Forwarded is equivalent`(line: String, expected: String) throws {
    #expect(try client("10.0.0.1", [("forwarded", line)], header: .forwarded) == expected)
  }

  @Test func `Only the header that the proxies are configured to write is used`() throws {
    #expect(try client("10.0.0.1", [("forwarded", "for=1.2.3.4")]) == "10.0.0.1")
    #expect(try client("10.0.0.1", [("x-forwarded-for", "1.2.3.4")], header: .forwarded) == "10.0.0.1")
  }
}
