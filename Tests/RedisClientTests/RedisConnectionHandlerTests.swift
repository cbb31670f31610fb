import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import RedisClient

/// A connection without a network: the bytes it sends in a turn of its event loop, and the replies its callers get.
@Suite struct RedisConnectionHandlerTests {
  private struct Connection {
    let channel = NIOAsyncTestingChannel()
    let handler: NIOLoopBound<RedisConnectionHandler>

    init(_ replication: RedisReplication? = nil, observer: ((NIOAsyncTestingChannel) -> any RedisObserver)? = nil) async throws {
      let (channel, loop) = (channel, channel.testingEventLoop)
      let observer = observer?(channel)
      handler = try await loop.executeInContext {
        let handler = RedisConnectionHandler(
          reader: try #require(ReplyReader(maxElements: 100)), replication: replication, observer: observer)
        try channel.pipeline.syncOperations.addHandler(handler)
        return NIOLoopBound(handler, eventLoop: loop)
      }
      try await channel.connect(to: SocketAddress(unixDomainSocketPath: "/redis")).get()
    }

    /// Sends the commands in order in one turn of the loop, and then calls `before` in it. Returns the tasks with the replies.
    func send(_ commands: [EncodedArguments], before: @escaping @Sendable (NIOAsyncTestingChannel) -> Void = { _ in }) async throws
      -> [Task<Result<String, RedisError>, Never>]
    {
      let (stream, given) = AsyncStream<UnsafeContinuation<RedisReply, any Error>>.makeStream()
      let callers = commands.map { _ in
        Task {
          do {
            let reply: RedisReply = try await withUnsafeThrowingContinuation { _ = given.yield($0) }
            return Result<String, RedisError>.success(reply.string ?? "")
          } catch { return .failure(error as? RedisError ?? .unavailable("\(error)")) }
        }
      }
      var waiting: [UnsafeContinuation<RedisReply, any Error>] = []
      for await caller in stream {
        waiting.append(caller)
        if waiting.count == commands.count { break }
      }
      // Any caller may get any command, because their replies are equal.
      try await channel.testingEventLoop.executeInContext { [handler, channel, waiting] in
        for (words, caller) in zip(commands, waiting) {
          handler.value.send(words, isAsking: false, timeout: .seconds(60), name: "ECHO", caller)
        }
        before(channel)
      }
      await channel.testingEventLoop.run()
      return callers
    }

    /// All bytes that were written and flushed.
    func written() async throws -> String {
      var bytes = ByteBuffer()
      while var piece = try await channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&piece) }
      return String(buffer: bytes)
    }

    /// Runs the loop until no timer is left.
    func end() async throws {
      _ = try await channel.finish(acceptAlreadyClosed: true)
      await channel.testingEventLoop.run()
    }

    func receive(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }
  }

  /// A command so long that the bytes after it are sent in a buffer of their own.
  private static func long(_ letter: String) -> (words: EncodedArguments, text: String) {
    let word = String(repeating: letter, count: 40_000)
    var (words, inner) = (EncodedArguments(), EncodedArguments())
    inner.append(word)
    words.append("ECHO")
    words.append(contentsOf: inner)
    words.append("end")
    return (words, "*3\r\n$4\r\nECHO\r\n$40000\r\n\(word)\r\n$3\r\nend\r\n")
  }
  private static let short = (words: EncodedArguments(["ECHO", "a"]), text: "*2\r\n$4\r\nECHO\r\n$1\r\na\r\n")
  private static let wait = "*3\r\n$4\r\nWAIT\r\n$1\r\n1\r\n$3\r\n500\r\n"

  @Test func `Commands of one event-loop turn are sent completely and in order`() async throws {
    let connection = try await Connection()
    let (first, last) = (Self.long("x"), Self.long("y"))
    let callers = try await connection.send([Self.short.words, first.words, last.words, Self.short.words])
    #expect(try await connection.written() == Self.short.text + first.text + last.text + Self.short.text)
    try await connection.receive("+ok\r\n+ok\r\n+ok\r\n+ok\r\n")
    for caller in callers { #expect(await caller.value == .success("ok")) }
    try await connection.end()
  }

  @Test func `An unsolicited error of Redis fails all later commands with its message`() async throws {
    let connection = try await Connection()
    try await connection.receive("-DENIED Redis is running in protected mode\r\n")
    let callers = try await connection.send([Self.short.words])
    for caller in callers { #expect(await caller.value == .failure(.refused("DENIED Redis is running in protected mode"))) }
    try await connection.end()
  }

  @Test(arguments: [(":1\r\n", Result<String, RedisError>.success("ok")), (":0\r\n", .failure(.notReplicated))])
  func `Replicas are queried after the last part, and their reply applies to all earlier commands`(
    _ reply: String, _ heard: Result<String, RedisError>
  ) async throws {
    let connection = try await Connection(RedisReplication(replicas: 1, depth: .received, timeout: .milliseconds(500)))
    let long = Self.long("x")
    let callers = try await connection.send([Self.short.words, long.words, long.words])
    #expect(try await connection.written() == Self.short.text + long.text + long.text + Self.wait)
    try await connection.receive("+ok\r\n+ok\r\n+ok\r\n" + reply)
    for caller in callers { #expect(await caller.value == heard) }
    // The next turn has its own query.
    let next = try await connection.send([long.words])
    #expect(try await connection.written() == long.text + Self.wait)
    try await connection.receive("+ok\r\n" + reply)
    #expect(await next[0].value == heard)
    try await connection.end()
  }

  @Test func `A connection that closes before writing fails its callers and writes nothing`() async throws {
    let connection = try await Connection(RedisReplication(replicas: 1, depth: .received, timeout: .milliseconds(500)))
    let callers = try await connection.send([Self.long("x").words, Self.long("y").words]) { $0.pipeline.fireChannelInactive() }
    for caller in callers { #expect(await caller.value == .failure(.unavailable("the connection was closed"))) }
    #expect(try await connection.written() == "")
    let late = try await connection.send([Self.short.words])
    #expect(await late[0].value == .failure(.unavailable("the connection was closed")))
  }

  @Test func `A connection that closes before the replicas' reply reports no command as done`() async throws {
    let connection = try await Connection(RedisReplication(replicas: 1, depth: .received, timeout: .milliseconds(500)))
    let callers = try await connection.send([Self.long("x").words, Self.long("y").words])
    try await connection.receive("+ok\r\n+ok\r\n")
    try await connection.channel.testingEventLoop.executeInContext { [channel = connection.channel] in
      channel.pipeline.fireChannelInactive()
    }
    for caller in callers { #expect(await caller.value == .failure(.unavailable("the connection was closed"))) }
  }

  /// Records whether the connection is open when a command's failure is reported.
  private final class AtFailure: RedisObserver {
    let channel: NIOAsyncTestingChannel
    let wereOpen = Mutex<[Bool]>([])

    init(_ channel: NIOAsyncTestingChannel) { self.channel = channel }

    func sent() {}
    func answered(_ command: String, seconds: Double) {}
    func failed(_ kind: String) { wereOpen.withLock { $0.append(channel.isActive) } }
    func connected() {}
    func redirected(_ kind: String) {}
  }

  @Test func `Callers that learn of a closed connection find it closed and use another one`() async throws {
    let watch = Mutex<AtFailure?>(nil)
    let connection = try await Connection(observer: { channel in
      let observer = AtFailure(channel)
      watch.withLock { $0 = observer }
      return observer
    })
    let callers = try await connection.send([Self.short.words, Self.long("x").words])
    // An invalid reply.
    try? await connection.receive("?nonsense\r\n")
    for caller in callers { #expect(await caller.value.isFailure) }
    #expect(watch.withLock { $0 }?.wereOpen.withLock { $0 } == [false, false])
  }
}

extension Result {
  fileprivate var isFailure: Bool { if case .failure = self { true } else { false } }
}
