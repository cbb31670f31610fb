import EventLoops
import HTTPClient
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ServiceRuntime

/// A server that answers each request as scripted: with pieces of bytes, silence, or a closed connection.
private final class ScriptedServer: Sendable {
  enum Response: Sendable {
    case pieces([String])
    case silence, close
    /// These bytes, followed by a close without notice.
    case last(String)
  }

  private final class Handler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer
    let server: ScriptedServer
    var received = ""

    init(_ server: ScriptedServer) { self.server = server }

    func channelActive(context: ChannelHandlerContext) { server.connections.withLock { $0 += 1 } }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      received += String(buffer: unwrapInboundIn(data))
      guard let head = received.firstRange(of: "\r\n\r\n"), let length = received.firstMatch(of: /Content-Length: (\d+)/),
        received[head.upperBound...].utf8.count >= Int(length.1)!
      else { return }
      let request = received
      received = ""
      switch server.response(request) {
      case .pieces(let pieces):
        for piece in pieces { context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: piece)), promise: nil) }
      case .last(let text):
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
        context.close(promise: nil)
      case .silence: break
      case .close: context.close(promise: nil)
      }
    }
  }

  let connections = Mutex(0)
  private let response: @Sendable (String) -> Response
  private let channel = Mutex<(any Channel)?>(nil)

  init(_ response: @escaping @Sendable (String) -> Response) async throws {
    self.response = response
    let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Handler(self)) }
      }.bind(host: "127.0.0.1", port: 0).get()
    self.channel.withLock { $0 = channel }
  }

  var url: String { "http://127.0.0.1:\(channel.withLock { $0?.localAddress?.port } ?? 0)" }

  func stop() async { try? await channel.withLock { $0 }?.close() }
}

/// Answers the requests that the tested client leaves to it.
private struct Other: HTTPSender {
  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    HTTPClientResponse(status: 299, headers: [], body: [], httpVersion: "2")
  }
}

@Suite struct LoopCallsTests {
  private static func ok(_ body: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)" }

  private func request(_ server: ScriptedServer, _ body: String = "a", timeout: Duration = .seconds(30), isRepeatable: Bool = true)
    -> HTTPClientRequest
  {
    HTTPClientRequest(
      method: "POST", url: server.url + "/x/Y", headers: [("X-One", "1")], body: Array(body.utf8), timeout: timeout,
      isRepeatable: isRepeatable)
  }

  private static func expect(_ status: Int, _ response: HTTPClientResponse) { #expect(response.status == status) }

  /// Runs the work on an event loop, like a service's handlers.
  private func onLoop<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
    let loop = MultiThreadedEventLoopGroup.singleton.any()
    let executor = try await loop.submit { EventLoopExecutor.current(loop) }.get()
    return try await Task(executorPreference: executor) { try await work() }.value
  }

  private func withServer(
    _ response: @escaping @Sendable (String) -> ScriptedServer.Response,
    _ work: @escaping @Sendable (ScriptedServer, LoopCalls) async throws -> Void
  ) async throws {
    let server = try await ScriptedServer(response)
    let calls = try #require(LoopCalls(baseURL: server.url, fallback: Other()))
    do {
      try await onLoop { try await work(server, calls) }
      await server.stop()
    } catch {
      await server.stop()
      throw error
    }
  }

  @Test func `A request is sent completely and its answer is read in any parts over one connection`() async throws {
    try await withServer { request in
      #expect(request.hasPrefix("POST /x/Y HTTP/1.1\r\nHost: 127.0.0.1:") && request.contains("\r\nX-One: 1\r\n"))
      let text = Self.ok(String(request.split(separator: "\r\n").last ?? ""))
      return .pieces(text.map { String($0) })
    } _: { server, calls in
      for number in 0..<20 {
        let response = try await calls.send(request(server, "body \(number)"))
        #expect(response.status == 200 && response.body == Array("body \(number)".utf8))
      }
      #expect(server.connections.withLock { $0 } == 1)
    }
  }

  @Test func `Concurrent requests each get their own answer`() async throws {
    try await withServer { request in
      .pieces([Self.ok(String(request.split(separator: "\r\n").last ?? ""))])
    } _: { server, calls in
      try await withThrowingTaskGroup { group in
        for number in 0..<300 {
          group.addTask {
            let response = try await calls.send(request(server, "\(number)"))
            #expect(response.body == Array("\(number)".utf8))
          }
        }
        try await group.waitForAll()
      }
      #expect(server.connections.withLock { $0 } <= 64)
    }
  }

  @Test func `A connection that the server closed causes no failed call, and a failure of a new connection is reported`() async throws {
    let count = Atomic(0)
    try await withServer { _ in
      count.add(1, ordering: .relaxed).newValue == 2 ? .close : .pieces([Self.ok("x")])
    } _: { server, calls in
      try await Self.expect(200, calls.send(request(server)))
      // The connection is closed at the second request, which is sent again.
      try await Self.expect(200, calls.send(request(server)))
      #expect(server.connections.withLock { $0 } == 2)
    }
    try await withServer { _ in
      .close
    } _: { server, calls in
      await #expect(throws: HTTPClientError.connectionReset("it was closed")) { try await calls.send(request(server)) }
    }
    count.store(0, ordering: .relaxed)
    try await withServer { _ in
      count.add(1, ordering: .relaxed).newValue == 2 ? .close : .pieces([Self.ok("x")])
    } _: { server, calls in
      _ = try await calls.send(request(server))
      // A request that must not be repeated is not sent again.
      await #expect(throws: HTTPClientError.connectionReset("it was closed")) { try await calls.send(request(server, isRepeatable: false)) }
    }
  }

  @Test func `A request without an answer ends at its timeout, and the next one uses another connection`() async throws {
    try await withServer { request in
      request.hasSuffix("hangs") ? .silence : .pieces([Self.ok("x")])
    } _: { server, calls in
      await #expect(throws: HTTPClientError.timedOut) { try await calls.send(request(server, "hangs", timeout: .milliseconds(50))) }
      try await Self.expect(200, calls.send(request(server)))
    }
  }

  @Test(arguments: [
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nx",
    "HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\nx",
    "nonsense\r\n\r\n",
  ])
  func `Unsupported answers are left to the other client`(response: String) async throws {
    try await withServer { _ in
      .pieces([response])
    } _: { server, calls in
      try await Self.expect(299, calls.send(request(server)))
    }
  }

  @Test func `Unreachable servers, incomplete answers and answers that are too long are errors`() async throws {
    let server = try await ScriptedServer { _ in .last("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort") }
    let calls = try #require(LoopCalls(baseURL: server.url, fallback: Other()))
    await #expect(throws: HTTPClientError.connectionReset("it was closed")) { try await onLoop { try await calls.send(request(server)) } }
    var small = request(server)
    small.maxResponseBytes = 9
    let asked = small
    await #expect(throws: HTTPClientError.tooLarge(limit: 9)) { try await onLoop { try await calls.send(asked) } }
    let there = request(server)
    await server.stop()
    do {
      _ = try await onLoop { try await calls.send(there) }
      Issue.record("nobody answers")
    } catch let error as HTTPClientError {
      guard case .couldNotConnect = error else { Issue.record("\(error)"); return }
    }
  }

  @Test func `Calls from outside an event loop and encrypted calls use the other client`() async throws {
    let server = try await ScriptedServer { _ in .pieces([Self.ok("x")]) }
    let calls = try #require(LoopCalls(baseURL: server.url, fallback: Other()))
    try await Self.expect(299, calls.send(request(server)))
    await server.stop()
    #expect(
      LoopCalls(baseURL: "https://127.0.0.1:1", fallback: Other()) == nil && LoopCalls(baseURL: "ftp://x", fallback: Other()) == nil)
  }
}
