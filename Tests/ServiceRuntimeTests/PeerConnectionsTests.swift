import Testing

@testable import ServiceRuntime

@Suite struct PeerConnectionsTests {
  private func address(_ text: String) throws -> IPAddress { try IPAddress(validating: text) }

  @Test func `A peer has as many as it may, others are not in its way, and what ends makes room`() throws {
    let peers = PeerConnections(most: 2, proxies: [])
    let (first, second) = (try address("192.0.2.1"), try address("192.0.2.2"))
    #expect(peers.take(first) && peers.take(first) && !peers.take(first))
    #expect(peers.take(second))
    peers.giveBack(first)
    #expect(peers.take(first) && !peers.take(first))
  }

  @Test func `A 64 of IPv6 is one peer, and an IPv4 address inside IPv6 is that address`() throws {
    let peers = PeerConnections(most: 1, proxies: [])
    let taken = try ["2001:db8:1:1::1", "2001:db8:1:1:ffff::2", "2001:db8:1:2::1", "192.0.2.1", "::ffff:192.0.2.1"].map {
      peers.take(try address($0))
    }
    #expect(taken == [true, false, true, true, false])
  }

  @Test func `Connections of proxies do not count`() throws {
    let peers = PeerConnections(most: 1, proxies: [try AddressRange(validating: "10.0.0.0/8")])
    let proxy = try address("10.1.2.3")
    for _ in 0..<10 { #expect(peers.take(proxy)) }
    peers.giveBack(proxy)
    #expect(peers.count == 0)
  }

  @Test func `Nothing is remembered of who has none`() throws {
    let peers = PeerConnections(most: 3, proxies: [])
    for number in 1...200 {
      let peer = try address("192.0.2.\(number)")
      for _ in 0..<3 { #expect(peers.take(peer)) }
      for _ in 0..<3 { peers.giveBack(peer) }
    }
    #expect(peers.count == 0)
  }

  private func most(_ yaml: String, connections: Int = 10) throws -> Int? {
    var unknown: [String] = []
    let edge = try PublicEdge(try ConfigurationNode(yaml: yaml, file: "file"), &unknown)
    #expect(unknown.isEmpty)
    var limits = Limits()
    limits.connections = connections
    guard let peers = PeerConnections(edge, limits) else { return nil }
    let peer = try address("192.0.2.1")
    var count = 0
    while peers.take(peer) { count += 1 }
    return count
  }

  @Test func `Unless it is set, a peer may have half of all connections; 0 is no bound`() throws {
    let halves = [try most("{ peers: 512 }"), try most("{ peers: 512 }", connections: 1)]
    #expect(halves == [5, 1])
    let set = [try most("{ peerConnections: 7 }"), try most("{ peerConnections: 0 }")]
    #expect(set == [7, nil])
    #expect { _ = try most("{ peerConnections: -1 }") } throws: { ($0 as? ConfigurationError)?.place == "peerConnections" }
  }
}
