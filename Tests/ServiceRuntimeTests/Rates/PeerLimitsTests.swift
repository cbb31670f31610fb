import Testing

@testable import ServiceRuntime

@Suite struct PeerQuotaTests {
  private func address(_ text: String) throws -> IPAddress { try IPAddress(validating: text) }

  @Test func `A peer can use its quota independently of others, and again after it was returned`() throws {
    let peers = PeerQuota(limit: 10)
    let (first, second) = (try address("192.0.2.1"), try address("192.0.2.2"))
    #expect(peers.reserve(7, of: first) && !peers.reserve(4, of: first) && peers.reserve(3, of: first) && !peers.reserve(1, of: first))
    #expect(peers.reserve(10, of: second))
    peers.release(2, of: first)
    #expect(!peers.reserve(3, of: first) && peers.reserve(2, of: first))
  }

  @Test func `A network of 64 bits in IPv6 is one peer, and an IPv4 address inside IPv6 is that address`() throws {
    let peers = PeerQuota(limit: 1)
    let taken = try ["2001:db8:1:1::1", "2001:db8:1:1:ffff::2", "2001:db8:1:2::1", "192.0.2.1", "::ffff:192.0.2.1"].map {
      peers.reserve(1, of: try address($0))
    }
    #expect(taken == [true, false, true, true, false])
  }

  @Test func `Peers without connections use no memory`() throws {
    let peers = PeerQuota(limit: 3)
    for number in 1...200 {
      let peer = try address("192.0.2.\(number)")
      #expect(peers.reserve(0, of: peer))
      #expect(peers.count == 0)
      for _ in 0..<3 { #expect(peers.reserve(1, of: peer)) }
      #expect(peers.reserve(0, of: peer))
      peers.release(1, of: peer)
      #expect(peers.count == 1)
      peers.release(2, of: peer)
    }
    #expect(peers.count == 0)
  }
}

@Suite struct PeerLimitsTests {
  private func bounds(_ yaml: String) throws -> PeerLimits {
    var unknown: [UnknownKey] = []
    let edge = try EdgeSettings(try ConfigurationNode(yaml: yaml, file: "file"), &unknown)
    #expect(unknown.isEmpty)
    return PeerLimits(edge)
  }

  /// How many connections and bytes one peer gets; nil if there is no limit.
  private func limits(_ bounds: PeerLimits) throws -> [Int?] {
    let peer = try IPAddress(validating: "192.0.2.1")
    return [bounds.connections, bounds.bodies].map { shares in
      shares.map { shares in
        var count = 0
        while shares.reserve(1, of: peer) { count += 1 }
        return count
      }
    }
  }

  @Test func `Without a setting, and with 0, a peer has no limit`() throws {
    let found = [
      try limits(try bounds("{ peers: 512 }")),
      try limits(try bounds("{ peerConnections: 7, peerBodyMemory: 900 }")),
      try limits(try bounds("{ peerConnections: 0, peerBodyMemory: 0 }")),
    ]
    #expect(found == [[nil, nil], [7, 900], [nil, nil]])
    for key in ["peerConnections", "peerBodyMemory"] {
      #expect { _ = try bounds("{ \(key): -1 }") } throws: { ($0 as? ConfigurationError)?.place == key }
    }
  }

  @Test func `Connections of proxies do not count as one peer`() throws {
    let bounds = try bounds("{ trustedProxies: [10.0.0.0/8] }")
    let client = try IPAddress(validating: "192.0.2.1")
    let peers = [bounds.peer(try IPAddress(validating: "10.1.2.3")), bounds.peer(client), bounds.peer(nil)]
    #expect(peers == [nil, client, nil])
  }
}
