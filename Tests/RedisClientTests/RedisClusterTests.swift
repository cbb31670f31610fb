import Synchronization
import Testing

@testable import RedisClient

/// A client and a real cluster whose slots move.
@Suite struct RedisClusterTests {
  private final class Redirections: RedisObserver {
    let kinds = Mutex<[String]>([])
    func sent() {}
    func answered(_ command: String, seconds: Double) {}
    func failed(_ kind: String) {}
    func connected() {}
    func redirected(_ kind: String) { kinds.withLock { $0.append(kind) } }
  }

  /// Counts its calls under two keys, and under a third one whose name the script makes.
  private let script = RedisScript(
    name: "count_twice",
    source: "redis.call('INCR', KEYS[1]) redis.call('INCR', KEYS[2]) return redis.call('INCR', KEYS[1] .. ':made')")

  @Test func `Each command reaches the node that has its key, from one known address of the cluster`() async throws {
    try await withCluster { cluster in
      let client = try cluster.client()
      defer { client.close() }
      for shard in 0..<256 { try await client.send(["SET", .string("{attr:\(shard)}:x"), .integer(Int64(shard))]) }
      for shard in 0..<256 { #expect(try await client.send(["GET", .string("{attr:\(shard)}:x")]).integer == Int64(shard)) }
      let sizes = try await client.sendToEachPrimary(["DBSIZE"])
      #expect(sizes.count == 3 && sizes.allSatisfy { ($0.reply.integer ?? 0) > 0 })
      #expect(sizes.reduce(0) { $0 + ($1.reply.integer ?? 0) } == 256)
      #expect(Set(sizes.compactMap { $0.node?.port }) == Set(cluster.ports))
    }
  }

  @Test func `While a slot moves, no command is lost and no script is executed partly`() async throws {
    try await withCluster { cluster in
      let observer = Redirections()
      let client = try cluster.client {
        $0.observer = observer
        $0.retryTimeout = .seconds(60)
      }
      defer { client.close() }
      let keys = ["{attr:017}:a", "{attr:017}:b", "{attr:017}:absent"]
      #expect(try await script.run(on: client, keys: keys, arguments: []).integer == 1)
      let source = try cluster.owner(of: keys[0])
      let target = try #require(cluster.ports.first { $0 != source })
      try cluster.beginMove(of: keys[0], from: source, to: target)
      // A key that is still at the source is answered there, and another one is requested from the target.
      #expect(try await client.send(["GET", .string(keys[0])]).integer == 1)
      try await client.send(["SET", "{attr:017}:new", "n"])
      #expect(try cluster.ask(target, ["CLUSTER", "COUNTKEYSINSLOT", "\(cluster.slot(of: keys[0]))"]) == "1")
      #expect(observer.kinds.withLock { $0 } == ["ask"])
      // A script waits until the slot has moved, because before that no node has all its keys.
      async let counted = script.run(on: client, keys: keys, arguments: [])
      for _ in 0..<500 where !observer.kinds.withLock({ $0.contains("try_again") }) { try await Task.sleep(for: .milliseconds(20)) }
      #expect(observer.kinds.withLock { $0 }.contains("try_again"))
      try cluster.endMove(of: keys[0], from: source, to: target)
      #expect(try await counted.integer == 2)
      #expect(try await client.send(["GET", .string(keys[1])]).integer == 2)
      #expect(observer.kinds.withLock { $0 }.contains("moved"))
      // The client knows the new node.
      let before = observer.kinds.withLock { $0.count }
      #expect(try await client.send(["GET", "{attr:017}:new"]).string == "n")
      #expect(observer.kinds.withLock { $0.count } == before)
    }
  }

  @Test func `A script fails if a slot moves for too long, and was not executed`() async throws {
    try await withCluster { cluster in
      let client = try cluster.client { $0.retryTimeout = .milliseconds(200) }
      defer { client.close() }
      let keys = ["{attr:017}:a", "{attr:017}:b", "{attr:017}:absent"]
      #expect(try await script.run(on: client, keys: keys, arguments: []).integer == 1)
      let source = try cluster.owner(of: keys[0])
      try cluster.beginMove(of: keys[0], from: source, to: try #require(cluster.ports.first { $0 != source }))
      await #expect(throws: RedisError.unavailable("its slot is being moved")) {
        try await script.run(on: client, keys: keys, arguments: [])
      }
      #expect(try await client.send(["GET", .string(keys[0])]).integer == 1)
    }
  }

  @Test func `A subscriber is notified when a slot moves, and receives messages from the new node`() async throws {
    try await withCluster { cluster in
      let heard = Mutex(0)
      let ended = Mutex<[String]>([])
      let client = try cluster.client()
      let subscriber = client.subscriber(
        loop: 0,
        RedisSubscription { _, _ in
          heard.withLock { $0 += 1 }
        } onEnd: { channel in
          ended.withLock { $0.append(channel) }
        })
      defer {
        client.close()
        subscriber.close()
      }
      func eventually(_ condition: () async throws -> Bool) async throws {
        for _ in 0..<200 where try await !condition() { try await Task.sleep(for: .milliseconds(50)) }
      }
      let channel = "{attr:017}:q"
      try await subscriber.send(["SSUBSCRIBE", .string(channel)])
      try await client.send(["SPUBLISH", .string(channel), ""])
      try await eventually { heard.withLock { $0 } == 1 }
      #expect(heard.withLock { $0 } == 1)
      let source = try cluster.owner(of: channel)
      let target = try #require(cluster.ports.first { $0 != source })
      try cluster.beginMove(of: channel, from: source, to: target)
      try cluster.endMove(of: channel, from: source, to: target)
      try await eventually { ended.withLock { $0 } == [channel] }
      #expect(ended.withLock { $0 } == [channel])
      try await subscriber.send(["SSUBSCRIBE", .string(channel)])
      try await client.send(["SPUBLISH", .string(channel), ""])
      try await eventually { heard.withLock { $0 } == 2 }
      #expect(heard.withLock { $0 } == 2)
      // A subscription that was ended by the client is not reported as ended.
      try await subscriber.send(["SUNSUBSCRIBE", .string(channel)])
      #expect(ended.withLock { $0.count } <= 2)
    }
  }
}
