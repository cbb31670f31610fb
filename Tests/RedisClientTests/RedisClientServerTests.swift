import RedisTestSupport
import NIOCore
import NIOPosix
@testable import RedisClient
import Testing

private final class LoopExecutor: TaskExecutor {
  private let loop: any EventLoop

  init(loop: any EventLoop) { self.loop = loop }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}

@Suite struct RedisClientServerTests {
  @Test func `Many callers share one connection and each gets its own answer`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.connections = 1 }
      try await untilReady(client)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<2000 {
          group.addTask {
            let text = "word \(index)"
            return try await client.send(["ECHO", .string(text)]).string == text
          }
        }
        for try await same in group { #expect(same) }
      }
      let info = try await client.send(["INFO", "stats"]).string ?? ""
      #expect(info.contains("total_connections_received:1\r\n"))
      client.close()
    }
  }

  @Test func `A password is sent over a Unix socket too, and a wrong one is refused`() async throws {
    try await withRedisProcess(["--requirepass", "se@cret"]) { server in
      let client = try server.client(credentials: ":se@cret@", query: "?db=3")
      try await untilReady(client)
      #expect(try await client.send(["CLIENT", "INFO"]).string?.contains(" db=3 ") == true)
      client.close()
      let stranger = try server.client(credentials: ":secret@")
      let refusal = await #expect(throws: RedisError.self) { try await stranger.send(["PING"]) }
      guard case .refused(let text) = refusal else { return #expect(Bool(false), "\(String(describing: refusal))") }
      #expect(text.hasPrefix("WRONGPASS"))
      stranger.close()
    }
  }

  @Test func `Short and long commands are sent completely and in order`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.connections = 1 }
      try await untilReady(client)
      let script = RedisScript(name: "lengths", source: "return {KEYS[1], ARGV[1], ARGV[2], ARGV[3]}")
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<600 {
          // Shorter and longer than the length from which words are not copied, and more than one buffer holds, in one turn of the loop.
          let length = [0, 10, 4000, 4096, 5000, 70_000][index % 6]
          group.addTask {
            var (keys, words) = (EncodedArguments(), EncodedArguments())
            keys.append("key ", Int64(index))
            let (bytes, text) = ([UInt8](repeating: UInt8(index & 255), count: length), String(repeating: "\(index) ", count: length / 9))
            words.append(bytes)
            words.append(text)
            words.append(Int64(index))
            let reply = try await script.run(on: client, keys: keys, arguments: words).array ?? []
            return reply.count == 4 && reply[0].string == "key \(index)" && reply[1].bytes == bytes && reply[2].string == text
              && reply[3].string == String(index)
          }
        }
        for try await same in group { #expect(same) }
      }
      client.close()
    }
  }

  @Test func `Connections are opened when needed, up to their limit`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.connections = 3 }
      try await untilReady(client)
      for _ in 0..<100 { try await client.send(["PING"]) }
      let first = try await opened(client)
      #expect(first == 1)
      // Each command is more than Redis reads at a time. The first ones of a round find a busy connection and open the next one.
      let text = String(repeating: "x", count: 20_000)
      for _ in 0..<50 {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for index in 0..<20 {
            group.addTask {
              let reply = try await client.send(["ECHO", .string("\(text)\(index)")])
              #expect(reply.string == "\(text)\(index)")
            }
          }
          try await group.waitForAll()
        }
      }
      let last = try await opened(client)
      #expect((2...3).contains(last))
      client.close()
    }
  }

  @Test func `A caller on an event loop gets its answers on that loop's connection, even if the loop has none`() async throws {
    try await withRedisProcess { server in
      for connections in [1, 8] {
        let client = try server.client { $0.connections = connections }
        try await untilReady(client)
        for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() {
          let executor = LoopExecutor(loop: loop)
          for _ in 0..<10 {
            let reply = try await Task(executorPreference: executor) {
              #expect(loop.inEventLoop)
              return try await client.send(["ECHO", "here"])
            }.value
            #expect(reply.string == "here")
          }
        }
        client.close()
      }
    }
  }

  private func opened(_ client: RedisClient) async throws -> Int {
    let info = try await client.send(["INFO", "stats"]).string ?? ""
    let line = try #require(info.split(separator: "\r\n").first { $0.hasPrefix("total_connections_received:") })
    return try #require(Int(line.dropFirst("total_connections_received:".count)))
  }

  @Test func `A refusal is an error with Redis' message, and the connection stays open`() async throws {
    try await withRedisProcess { server in
      let client = try server.client()
      try await untilReady(client)
      await #expect { _ = try await client.send(["NOSUCHCOMMAND"]) } throws: { error in
        guard case RedisError.refused(let text) = error else { return false }
        return text.hasPrefix("ERR unknown command")
      }
      #expect(try await client.send(["PING"]).string == "PONG")
      client.close()
      await #expect(throws: RedisError.self) { _ = try await client.send(["PING"]) }
    }
  }

  @Test func `A client fails fast while Redis is unreachable and reconnects automatically`() async throws {
    try await withRedisProcess { server in
      let client = try server.client()
      try await untilReady(client)
      await server.kill()
      // The limit is generous. It distinguishes an immediate failure from the command's timeout of five seconds.
      let started = ContinuousClock.now
      for _ in 0..<50 {
        await #expect(throws: RedisError.self) { _ = try await client.send(["PING"]) }
      }
      #expect(started.duration(to: .now) < .seconds(4))
      #expect(!client.isConnected)
      try server.start()
      try await untilReady(client)
      #expect(client.isConnected)
      client.close()
    }
  }

  @Test func `A late reply fails its command and is never used for another command`() async throws {
    try await withRedisProcess { server in
      let client = try server.client()
      try await untilReady(client)
      await #expect(throws: RedisError.timedOut) {
        _ = try await client.send(["BLPOP", "nothing", "30"], timeout: .milliseconds(100))
      }
      try await untilReady(client)
      #expect(try await client.send(["ECHO", "mine"]).string == "mine")
      client.close()
    }
  }

  @Test func `A blocking read on a dedicated connection does not delay others`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.commandTimeout = .seconds(5) }
      try await untilReady(client)
      let blocking = client.dedicated(commandTimeout: .seconds(30))
      async let popped = blocking.send(["BLPOP", "list", "20"])
      for _ in 0..<20 { try await client.send(["PING"]) }
      try await client.send(["RPUSH", "list", "x"])
      #expect(try await popped.array?.last?.string == "x")
      blocking.close()
      client.close()
    }
  }

  @Test func `A script that Redis does not know is sent completely, also after Redis lost it`() async throws {
    try await withRedisProcess { server in
      let client = try server.client()
      try await untilReady(client)
      let source = "return {KEYS[1], ARGV[1]}"
      let sha1 = try #require(try await client.send(["SCRIPT", "LOAD", .string(source)]).string)
      let script = RedisScript(name: "pair", source: source)
      #expect(script.digest == sha1)
      for _ in 0..<2 {
        try await client.send(["SCRIPT", "FLUSH"])
        for _ in 0..<2 {
          let reply = try await script.run(on: client, keys: ["k"], arguments: [.bytes([0, 13, 10, 255])])
          #expect(reply.array?.map(\.bytes) == [Array("k".utf8), [0, 13, 10, 255]])
        }
      }
      client.close()
    }
  }

  @Test func `The database of the address is selected`() async throws {
    try await withRedisProcess { server in
      let zero = try server.client()
      let three = try server.client(query: "?db=3")
      try await untilReady(zero)
      try await three.send(["SET", "k", "3"])
      #expect(try await zero.send(["GET", "k"]).isNull)
      #expect(try await three.send(["GET", "k"]).string == "3")
      zero.close()
      three.close()
    }
  }

  @Test func `A reply with too many elements only closes its connection`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.maxReplyElements = 50 }
      try await untilReady(client)
      try await client.send(["RPUSH", "list"] + (0..<100).map { .integer($0) })
      await #expect(throws: RedisError.self) { _ = try await client.send(["LRANGE", "list", "0", "-1"]) }
      try await untilReady(client)
      #expect(try await client.send(["LRANGE", "list", "0", "9"]).array?.count == 10)
      client.close()
    }
  }
}
