import RedisTestSupport
import Testing

@testable import RedisClient

@Suite struct RedisSessionTests {
  @Test func `Commands that are sent together have the encoding of commands that are sent alone`() {
    var commands = EncodedCommands()
    commands.append("UNWATCH")
    commands.append("SET", arguments: 3) { words in
      words.append("key")
      words.append([0, 13, 10])
      words.append(Int64(-12))
    }
    commands.append("MGET", arguments: 11) { words in for number in 0..<11 { words.append(Int64(number)) } }
    var bytes: [UInt8] = []
    commands.arguments.forEachChunk { bytes += $0 }
    let numbers = (0..<11).map { "$\(String($0).count)\r\n\($0)\r\n" }.joined()
    let text =
      "*1\r\n$7\r\nUNWATCH\r\n*4\r\n$3\r\nSET\r\n$3\r\nkey\r\n$3\r\n\u{0}\r\n\r\n$3\r\n-12\r\n*12\r\n$4\r\nMGET\r\n" + numbers
    #expect(bytes == Array(text.utf8))
    #expect(commands.count == 3)
  }

  @Test func `A session returns the requested replies, including error replies`() async throws {
    try await withRedisProcess { server in
      let client = try server.client()
      try await untilReady(client)
      let session = try #require(try await client.session())
      var commands = EncodedCommands()
      commands.append("SET", arguments: 2) { words in
        words.append("a")
        words.append("1")
      }
      commands.append("INCR", arguments: 1) { $0.append("a") }
      commands.append("LPUSH", arguments: 2) { words in
        words.append("a")
        words.append("1")
      }
      commands.append("MGET", arguments: 2) { words in
        words.append("a")
        words.append("none")
      }
      let all = try await session.send(commands, name: "test")
      #expect(all.count == 4 && all[0].string == "OK" && all[1].integer == 2 && all[2].error?.hasPrefix("WRONGTYPE") == true)
      #expect(all[3].array?.map(\.string) == ["2", nil])
      let last = try await session.send(commands, ignoring: 3, name: "test")
      #expect(last.count == 1 && last[0].array?.first?.string == "2")
      client.close()
    }
  }

  @Test func `Sessions and single commands share a connection, and each gets its own replies`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.connections = 1 }
      try await untilReady(client)
      let session = try #require(try await client.session())
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<500 {
          group.addTask {
            guard index % 2 == 0 else { return try await client.send(["ECHO", .integer(Int64(index))]).integer == Int64(index) }
            var commands = EncodedCommands()
            // Replies that are dropped, short and long ones.
            for size in 0..<index % 7 {
              commands.append("ECHO", arguments: 1) { $0.append(String(repeating: "x", count: size * 5000)) }
            }
            let ignored = commands.count
            for number in 0..<3 { commands.append("ECHO", arguments: 1) { $0.append(Int64(index + number)) } }
            return try await session.send(commands, ignoring: ignored, name: "test").map(\.integer) == (0..<3).map { Int64(index + $0) }
          }
        }
        for try await same in group { #expect(same) }
      }
      client.close()
    }
  }

  @Test func `Watched keys of an ended session do not affect the next session`() async throws {
    try await withRedisProcess { server in
      let client = try server.client { $0.connections = 1 }
      try await untilReady(client)
      let session = try #require(try await client.session())
      var watch = EncodedCommands()
      watch.append("WATCH", arguments: 1) { $0.append("a") }
      _ = try await session.send(watch, name: "test")
      let other = try server.client { $0.connections = 1 }
      try await untilReady(other)
      try await other.send(["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
      var change = EncodedCommands()
      change.append("MULTI")
      change.append("SET", arguments: 2) { words in
        words.append("a")
        words.append("1")
      }
      change.append("EXEC")
      await #expect(throws: RedisError.self) { try await session.send(change, ignoring: 2, name: "test") }
      #expect(try await other.send(["EXISTS", "a"]).integer == 0)
      client.close()
      other.close()
    }
  }
}
