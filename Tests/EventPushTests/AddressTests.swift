import HTTPClient
import ServiceRuntime
import Testing

@testable import EventPush

@Suite("Allowed endpoint addresses")
struct AddressTests {
  @Test(
    "addresses of private, link-local, loopback, metadata and other special networks are refused in any form",
    arguments: [
      "0.0.0.0", "10.1.2.3", "100.64.0.1", "100.100.100.200", "127.0.0.1", "127.255.255.254", "169.254.169.254", "172.16.0.1",
      "172.31.255.255", "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "224.0.0.1",
      "255.255.255.255", "168.63.129.16", "::", "::1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::10.0.0.1", "64:ff9b::a9fe:a9fe",
      "64:ff9b::7f00:1", "64:ff9b:1::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001::1", "2001:db8::1", "2002:7f00:1::",
      "3fff::1", "fec0::1", "4000::1",
    ])
  func refused(_ text: String) throws {
    #expect(!EndpointAddresses().allows(try IPAddress(validating: text)))
  }

  @Test(
    "public addresses are allowed",
    arguments: [
      "17.253.144.10", "8.8.8.8", "172.32.0.1", "169.253.1.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808", "::ffff:8.8.8.8",
    ])
  func allowed(_ text: String) throws {
    #expect(EndpointAddresses().allows(try IPAddress(validating: text)))
  }

  @Test("exactly the configured addresses are allowed; bytes of another length never are")
  func configured() throws {
    let addresses = EndpointAddresses(allowed: [try AddressRange(validating: "10.8.0.0/16"), try AddressRange(validating: "fd00::/8")])
    #expect(addresses.allows([10, 8, 1, 2]) && !addresses.allows([10, 9, 1, 2]))
    #expect(addresses.allows([0xFD] + Array(repeating: 1, count: 15)))
    #expect(!addresses.allows([]) && !addresses.allows([10, 8, 1]))
  }

  @Test("every range of the lists can be read")
  func lists() {
    #expect(EndpointAddresses.reservedIPv4.count == 16 && EndpointAddresses.reservedIPv6.count == 4)
  }

  @Test(
    "a URL is parsed as the connecting client parses it",
    arguments: [
      ("https://example.com/hook?x=1", "example.com"), ("https://EXAMPLE.com", "example.com"), ("https://0x7f.1/", "127.0.0.1"),
      ("https://2852039166/", "169.254.169.254"), ("https://[::1]:8443/", "::1"), ("https://017700000001/", "127.0.0.1"),
    ])
  func urls(_ text: String, _ host: String) throws {
    #expect(try EndpointURL(validating: text, allowsHTTP: false).host == host)
  }

  @Test(
    "each refused URL has its reason",
    arguments: [
      ("", EndpointURL.Failure.malformed), ("example.com", .malformed), ("http://example.com/", .scheme), ("file:///etc/passwd", .scheme),
      ("gopher://example.com/", .scheme), ("https://user@example.com/", .user), ("https://u:p@example.com/", .user),
      ("https://example.com/#x", .fragment), ("https://example.com/\r\nHost: x", .malformed), ("https://exa mple.com/", .malformed),
      ("https://" + String(repeating: "a", count: 2050), .tooLong),
    ])
  func refusedURLs(_ text: String, _ failure: EndpointURL.Failure) {
    #expect(throws: failure) { try EndpointURL(validating: text, allowsHTTP: false) }
  }

  @Test("clear text requires permission")
  func clearText() throws {
    #expect(try EndpointURL(validating: "http://example.com/", allowsHTTP: true).text == "http://example.com/")
  }
}
