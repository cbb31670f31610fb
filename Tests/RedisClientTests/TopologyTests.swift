import Testing

@testable import RedisClient

/// The values that describe a cluster, and the topology that follows from the answers of its nodes.
@Suite struct TopologyTests {
  private func node(_ port: Int) -> NodeAddress { NodeAddress(host: "127.0.0.1", port: port) }

  private func map(_ primaries: Int...) -> SlotMap {
    let share = HashSlot.count / primaries.count
    return SlotMap(
      primaries.enumerated().map { index, port in
        let last = index == primaries.count - 1 ? HashSlot.count - 1 : (index + 1) * share - 1
        return SlotMap.Range(slots: (index * share)...last, primary: node(port), replicas: [node(port + 100)])
      })
  }

  // MARK: Slots

  /// Values of `CLUSTER KEYSLOT` in Redis 7.0.
  @Test(arguments: [
    ("foo", 12182), ("", 0), ("123456789", 12739), ("{attr:017}:q:intake", 9219), ("foo{}{bar}", 8363), ("foo{{bar}}zap", 4015),
    ("foo{bar}{zap}", 5061), ("{", 4092), ("}{", 12793),
  ])
  func `A key's slot is the one that Redis computes from its hash tag`(_ key: String, _ slot: Int) {
    #expect(HashSlot(key: key.utf8).number == slot)
  }

  @Test func `There are slots from 0 to 16383`() {
    #expect(HashSlot(number: 0) != nil && HashSlot(number: 16_383) != nil)
    #expect(HashSlot(number: -1) == nil && HashSlot(number: 16_384) == nil)
  }

  @Test func `A slot map returns the node of a slot, and none for a missing range`() throws {
    let slots = try [0, 9, 20, 21, 16_383].map { try #require(HashSlot(number: $0)) }
    let whole = map(1, 2, 3)
    #expect(whole[slots[0]] == node(1) && whole[slots[4]] == node(3))
    #expect(whole.nodes == [1, 2, 3, 101, 102, 103].map(node))
    let part = SlotMap([SlotMap.Range(slots: 10...20, primary: node(1), replicas: [])])
    #expect(part[slots[1]] == nil && part[slots[3]] == nil && part[slots[2]] == node(1))
  }

  @Test func `Maps are equal for any order of ranges and replicas`() {
    let a = SlotMap.Range(slots: 0...9, primary: node(1), replicas: [node(5), node(6)])
    let b = SlotMap.Range(slots: 10...19, primary: node(2), replicas: [])
    var turned = a
    turned.replicas.reverse()
    #expect(SlotMap([a, b]) == SlotMap([b, turned]))
  }

  // MARK: Elections

  @Test func `The outdated topology of a single node is ignored`() {
    var election = TopologyElection(voters: 3)
    election.vote(map(1, 2))
    #expect(election.elected == nil)
    election.vote(map(1, 3))
    election.vote(map(1, 3))
    #expect(election.elected == map(1, 3) && election.result(current: map(1, 2)) == map(1, 3))
  }

  @Test func `Without a majority the topology stays; initially the most votes decide`() {
    var election = TopologyElection(voters: 4)
    for vote in [map(1, 2), map(1, 3), nil, nil] { election.vote(vote) }
    #expect(election.result(current: map(7)) == map(7))
    #expect(election.result(current: nil) != nil)
    var silent = TopologyElection(voters: 2)
    for _ in 0..<2 { silent.vote(nil) }
    #expect(silent.result(current: nil) == nil && silent.result(current: map(7)) == map(7))
  }

  // MARK: Redirections

  @Test func `Redirections are parsed, and other errors are no redirections`() throws {
    let teller = node(7000)
    let slot = try #require(HashSlot(number: 3999))
    #expect(Redirection(errorReply: "MOVED 3999 127.0.0.1:6381", from: teller) == .moved(slot, to: node(6381)))
    #expect(Redirection(errorReply: "MOVED 3999 :6381", from: teller) == .moved(slot, to: node(6381)))
    #expect(Redirection(errorReply: "ASK 3999 ::1:6381", from: teller) == .ask(NodeAddress(host: "::1", port: 6381)))
    #expect(Redirection(errorReply: "TRYAGAIN Multiple keys request during rehashing of slot", from: teller) == .tryAgain)
    for text in ["CLUSTERDOWN The cluster is down", "READONLY You can't write", "LOADING Redis is loading", "MASTERDOWN Link"] {
      #expect(Redirection(errorReply: text, from: teller) == .unsettled(text))
    }
    for text in ["ERR unknown", "MOVED", "MOVED x y:1", "MOVED 16384 h:1", "MOVED 1 h:0", "ASK 1 h", "NOSCRIPT No matching script"] {
      #expect(Redirection(errorReply: text, from: teller) == nil, "\(text)")
    }
  }

  // MARK: Routing keys

  @Test(
    arguments: [
      (["GET", "a"], "a"), (["EVALSHA", "d", "2", "k", "l", "v"], "k"), (["EVAL", "s", "1", "k"], "k"), (["EVAL", "s", "0", "v"], nil),
      (["XREAD", "COUNT", "1", "BLOCK", "5", "STREAMS", "s", "0-0"], "s"), (["XGROUP", "CREATE", "s", "g", "$"], "s"),
      (["XINFO", "GROUPS", "s"], "s"), (["PING"], nil), (["INFO", "server"], nil), (["CONFIG", "GET", "x"], nil),
      (["SSUBSCRIBE", "c"], "c"),
    ] as [([String], String?)])
  func `A command is routed by its first key`(_ words: [String], _ key: String?) {
    let found = EncodedArguments(words.map { .string($0) }).routingKey.map { String(decoding: $0, as: UTF8.self) }
    #expect(found == key)
  }

  @Test func `A key is found behind words that are stored separately`() {
    var keys = EncodedArguments()
    keys.append("k")
    keys.append([UInt8](repeating: 7, count: 10_000))
    var words = EncodedArguments()
    for word in ["EVALSHA", "digest", "2"] { words.append(word) }
    words.append(contentsOf: keys)
    #expect(words.routingKey.map(Array.init) == Array("k".utf8))
    #expect(words.argument(at: 4)?.count == 10_000 && words.argument(at: 5) == nil)
  }
}
