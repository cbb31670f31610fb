import EventLoops
import NIOCore
import NIOEmbedded
import NIOHTTP1
import Synchronization
import Testing

@testable import ServiceRuntime

private final class Waiting: CoalescedWork {
  let isDone = Mutex(false)

  static func perform(_ works: [Waiting]) { for work in works { work.isDone.withLock { $0 = true } } }
}

/// Answers `/now` immediately with its body, `/together` at the end of the turn, `/later` on request, and `/waiting` on the event loop.
/// `/limited` has four seconds; `/hanging` too, but ends only when it is released. `/refused` is refused by its headers.
private final class Probe: HTTPResponder {
  struct Exchange: HTTPExchange {
    let probe: Probe
    let path: String

    var abandonment: Abandonment {
      switch path {
      case "/call": .isCancelled
      case "/pull": .isCancelledAtInputEnd
      default: .finishes
      }
    }

    func refuse(_ error: BodyError) -> HTTPResponse { HTTPResponse(status: error == .tooLarge ? 413 : 408) }

    func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome {
      probe.bodies.withLock { $0.append(body) }
      if path == "/together" {
        let work = Waiting()
        return .coalesced(work) { HTTPResponse(status: work.isDone.withLock { $0 } ? 200 : 500, body: body) }
      }
      if path == "/waiting" { return .waiting { HTTPResponse(status: 203, body: body) } }
      if path == "/waiting-long" {
        return .waiting {
          await Task.yield()
          return HTTPResponse(status: 203, body: body)
        }
      }
      if path == "/limited" || path == "/hanging" {
        return .waitingAtMost(.seconds(4), late: { HTTPResponse(status: 503) }) {
          if path == "/hanging" {
            await withCheckedContinuation { continuation in probe.hanging.withLock { $0.append(continuation) } }
          }
          return HTTPResponse(status: 203, body: body)
        }
      }
      if ["/call", "/pull", "/keyed"].contains(path) {
        return .later { [probe] in
          do { try await Task.sleep(for: .seconds(1)) } catch { probe.cancelled.withLock { _ = $0.insert(path) } }
          // There is no response: an embedded event loop must not be used from another thread.
          await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
          return HTTPResponse(status: 202, body: body)
        }
      }
      guard path == "/later" else { return .now(HTTPResponse(status: 200, body: body)) }
      return .later { HTTPResponse(status: 202, body: body) }
    }
  }

  let bodies = Mutex<[[UInt8]]>([])
  let hanging = Mutex<[CheckedContinuation<Void, Never>]>([])

  func release() {
    let all = hanging.withLock { hanging in
      defer { hanging = [] }
      return hanging
    }
    for one in all { one.resume() }
  }

  /// The paths of requests whose work was cancelled.
  let cancelled = Mutex<Set<String>>([])

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    if request.path == "/refused" { return .response(HTTPResponse(status: 403)) }
    return .body(limit: 8, Exchange(probe: self, path: request.path))
  }
}

private final class ReadCount: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  var count = 0

  func read(context: ChannelHandlerContext) {
    count += 1
    context.read()
  }
}

@Suite struct HTTP1HandlerTests {
  private let probe = Probe()

  private func connection(_ limits: Limits = Limits(), draining: Bool = false) throws -> EmbeddedChannel {
    let channel = EmbeddedChannel()
    let registry = MetricsRegistry()
    registry.counter("attribution_http_rejected_total", help: "", labels: ["cause"])
    let handler = HTTP1Handler(
      responder: probe, limits: limits, bodies: BodyBudget(limit: limits.bodyMemory), registry: registry,
      turn: LoopTurnFlush(loop: channel.eventLoop),
      executor: EventLoopExecutor(loop: channel.eventLoop), peer: ConnectionPeer(), isDraining: { draining })
    try channel.pipeline.syncOperations.addHandlers([
      HTTP1Handler.ByteArrivalHandler(handler), ByteToMessageHandler(HTTPRequestDecoder()), handler,
    ])
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    return channel
  }

  private func send(_ text: String, _ channel: EmbeddedChannel) throws -> String {
    try channel.writeInbound(ByteBuffer(string: text))
    channel.embeddedEventLoop.run()
    return try received(channel)
  }

  private func received(_ channel: EmbeddedChannel) throws -> String {
    var text = ""
    while let buffer = try channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text
  }

  private func post(_ path: String, _ body: String, _ more: String = "") -> String {
    "POST \(path) HTTP/1.1\r\nHost: a\r\n\(more)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
  }

  @Test func `Requests of one connection are answered one after the other`() throws {
    let channel = try connection()
    for body in ["", "a", "12345678"] {
      let response = try send(post("/now", body), channel)
      #expect(response.hasPrefix("HTTP/1.1 200 OK\r\n"))
      #expect(response.hasSuffix("\r\n\r\n" + body))
      #expect(response.contains("content-length: \(body.utf8.count)\r\n"))
      #expect(!response.contains("connection: close"))
    }
    #expect(channel.isActive)
  }

  @Test func `Requests with coalesced work are answered in order, with other pipelined requests in between`() throws {
    let channel = try connection()
    let responses = try send(
      post("/together", "one") + post("/now", "two") + post("/together", "three") + post("/together", "four"), channel)
    var rest = Substring(responses)
    for body in ["one", "two", "three", "four"] {
      #expect(rest.hasPrefix("HTTP/1.1 200 OK\r\n"))
      let found = try #require(rest.range(of: "\r\n\r\n" + body))
      rest = rest[found.upperBound...]
    }
    #expect(rest.isEmpty)
    #expect(channel.isActive)
  }

  @Test func `Requests that have to wait are answered in order`() throws {
    let channel = try connection()
    let paths = ["/waiting", "/waiting-long", "/now", "/waiting-long", "/waiting"]
    let responses = try send(paths.enumerated().map { post($1, "\($0)") }.joined(), channel)
    let bodies = responses.split(separator: "HTTP/1.1 ").map { $0.suffix(1) }
    #expect(bodies == ["0", "1", "2", "3", "4"])
    #expect(try send(post("/now", "last"), channel).hasSuffix("last"))
  }

  @Test func `Work that exceeds its time is answered without it, and its own response is dropped`() throws {
    let channel = try connection()
    #expect(try send(post("/hanging", "one"), channel).isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(3990))
    #expect(try received(channel).isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .milliseconds(10))
    #expect(try received(channel).hasPrefix("HTTP/1.1 503"))
    // The connection serves further requests, also while the first work continues, and they have their own time.
    #expect(try send(post("/now", "two"), channel).hasSuffix("two"))
    #expect(try send(post("/hanging", "three"), channel).isEmpty)
    channel.embeddedEventLoop.advanceTime(by: .seconds(3))
    probe.release()
    channel.embeddedEventLoop.run()
    let responses = try received(channel)
    #expect(responses.hasPrefix("HTTP/1.1 203") && responses.hasSuffix("three") && !responses.contains("one"))
    #expect(try send(post("/limited", "four"), channel).hasSuffix("four"))
  }

  @Test func `Work that ends in time is answered once`() throws {
    let channel = try connection()
    let responses = try send(post("/limited", "one") + post("/limited", "two") + post("/now", "three"), channel)
    #expect(responses.split(separator: "HTTP/1.1 ").map { $0.suffix(3) } == ["one", "two", "ree"])
    channel.embeddedEventLoop.advanceTime(by: .seconds(5))
    #expect(try received(channel).isEmpty)
    #expect(channel.isActive)
  }

  @Test func `Thousands of requests in one read are answered one after the other, not within each other`() throws {
    let channel = try connection()
    for path in ["/waiting", "/waiting-long"] {
      let responses = try send(String(repeating: post(path, "x"), count: 5000), channel)
      #expect(responses.split(separator: "HTTP/1.1 203").count == 5000)
    }
  }

  @Test func `While an answer is computed, one more read is done and no second one`() throws {
    let channel = try connection()
    let reads = ReadCount()
    try channel.pipeline.syncOperations.addHandler(reads, position: .first)
    try channel.writeInbound(ByteBuffer(string: post("/waiting-long", "one")))
    channel.read()
    #expect(reads.count == 1)
    try channel.writeInbound(ByteBuffer(string: post("/waiting-long", "two")))
    channel.read()
    #expect(reads.count == 1)
    channel.embeddedEventLoop.run()
    #expect(reads.count == 2)
    #expect(try received(channel).split(separator: "HTTP/1.1 203").count == 2)
  }

  @Test func `Requests of a client that takes no answers are not processed`() throws {
    let channel = try connection()
    #expect(try send(post("/now", "one"), channel).hasSuffix("one"))
    channel.isWritable = false
    channel.pipeline.fireChannelWritabilityChanged()
    #expect(try send(post("/now", "two") + post("/now", "three"), channel) == "")
    #expect(probe.bodies.withLock { $0.count } == 1)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    channel.embeddedEventLoop.run()
    let responses = try received(channel)
    #expect(responses.contains("\r\n\r\ntwoHTTP/1.1 200 OK"))
    #expect(responses.hasSuffix("\r\n\r\nthree"))
    #expect(channel.isActive)
  }

  @Test func `Pipelined requests are answered before the end of the input closes the connection`() throws {
    let channel = try connection()
    channel.isWritable = false
    _ = try send(post("/now", "one") + post("/now", "two"), channel)
    channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    #expect(channel.isActive)
    channel.isWritable = true
    channel.pipeline.fireChannelWritabilityChanged()
    channel.embeddedEventLoop.run()
    let responses = try received(channel)
    #expect(responses.contains("\r\n\r\noneHTTP/1.1 200 OK"))
    #expect(responses.hasSuffix("\r\n\r\ntwo"))
    #expect(!channel.isActive)
  }

  @Test(arguments: ["", "Host: a\r\nHost: b\r\n", "Host: a\r\nContent-Length: 9223372036854775808\r\n"])
  func `A request without exactly one host, or with a length that is too large for an integer, is malformed`(_ lines: String) throws {
    let response = try send("POST /now HTTP/1.1\r\n\(lines)\r\n", try connection())
    #expect(response.hasPrefix("HTTP/1.1 400 "))
  }

  @Test func `HTTP 1-0 needs no host`() throws {
    let response = try send("POST /now HTTP/1.0\r\nContent-Length: 2\r\n\r\nok", try connection())
    #expect(response.hasPrefix("HTTP/1.1 200 ") || response.hasPrefix("HTTP/1.0 200 "))
  }

  @Test func `Pipelined requests are answered in order, even if they come byte by byte`() throws {
    let channel = try connection()
    let all = post("/now", "one") + post("/refused", "") + post("/now", "two")
    var responses = ""
    for byte in all.utf8 {
      try channel.writeInbound(ByteBuffer(bytes: [byte]))
      channel.embeddedEventLoop.run()
      responses += try received(channel)
    }
    let statuses = responses.split(separator: "HTTP/1.1 ").map { String($0.prefix(3)) }
    #expect(statuses == ["200", "403", "200"])
    #expect(probe.bodies.withLock { $0 } == [Array("one".utf8), Array("two".utf8)])
    #expect(try send(post("/now", "a") + post("/now", "b"), channel).split(separator: "HTTP/1.1 200").count == 2)
  }

  @Test func `A body over the limit is refused by its declared or its received length`() throws {
    let stated = try connection()
    #expect(try send(post("/now", "123456789"), stated).hasPrefix("HTTP/1.1 413"))
    #expect(stated.isActive)
    // Its end was read, so the connection can be used again.
    #expect(try send(post("/now", "ok"), stated).hasSuffix("ok"))

    let chunked = try connection()
    let head = "POST /now HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    #expect(try send(head + "5\r\n12345\r\n", chunked).isEmpty)
    let refusal = try send("4\r\n6789\r\n", chunked)
    #expect(refusal.hasPrefix("HTTP/1.1 413"))
    #expect(refusal.contains("connection: close"))
    #expect(probe.bodies.withLock { $0.count } == 1)
  }

  @Test func `A request that is refused by its headers is answered before its body arrives, and the body is skipped`() throws {
    let channel = try connection()
    let head = "POST /refused HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n"
    #expect(try send(head, channel).hasPrefix("HTTP/1.1 403"))
    #expect(try send("body", channel).isEmpty)
    #expect(try send(post("/now", "next"), channel).hasSuffix("next"))
    #expect(probe.bodies.withLock { $0 } == [Array("next".utf8)])
  }

  @Test func `Expect 100-continue is answered with 100 unless the request is refused`() throws {
    let channel = try connection()
    let head = "HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"
    #expect(try send("POST /now " + head, channel) == "HTTP/1.1 100 Continue\r\n\r\n")
    #expect(try send("ok", channel).hasPrefix("HTTP/1.1 200"))
    #expect(try send("POST /refused " + head, channel).hasPrefix("HTTP/1.1 403"))
  }

  @Test func `Input that is not HTTP is answered 400, and the connection ends`() throws {
    let channel = try connection()
    // The decoder also throws its error here, but only the answer matters.
    _ = try? channel.writeInbound(ByteBuffer(string: "nonsense\r\n\r\n"))
    channel.embeddedEventLoop.run()
    #expect(try received(channel).hasPrefix("HTTP/1.1 400"))
  }

  @Test func `Headers beyond the limits are refused`() throws {
    var limits = Limits()
    limits.headerBytes = 200
    limits.headerCount = 4
    limits.requestTargetBytes = 20
    let many = try connection(limits)
    #expect(try send(post("/now", "", "A: 1\r\nB: 2\r\n"), many).hasPrefix("HTTP/1.1 200"))
    #expect(try send(post("/now", "", "A: 1\r\nB: 2\r\nC: 3\r\n"), many).hasPrefix("HTTP/1.1 431"))
    let long = try connection(limits)
    #expect(try send(post("/now", "", "A: " + String(repeating: "a", count: 200) + "\r\n"), long).hasPrefix("HTTP/1.1 431"))
    let target = try connection(limits)
    #expect(try send(post("/" + String(repeating: "a", count: 19), ""), target).hasPrefix("HTTP/1.1 200"))
    #expect(try send(post("/" + String(repeating: "a", count: 20), ""), target).hasPrefix("HTTP/1.1 414"))
  }

  @Test func `A connection with slow headers, a slow body or no next request is closed`() throws {
    var limits = Limits()
    limits.headerTime = .seconds(10)
    limits.bodyTime = .seconds(30)
    limits.idleTime = .seconds(75)
    func later(_ seconds: Int64, _ channel: EmbeddedChannel) throws -> String {
      channel.embeddedEventLoop.advanceTime(by: .seconds(seconds))
      return try received(channel)
    }
    let silent = try connection(limits)
    _ = try later(9, silent)
    #expect(silent.isActive)
    _ = try later(1, silent)
    #expect(!silent.isActive)

    let slowHead = try connection(limits)
    _ = try send("POST /now HT", slowHead)
    _ = try later(9, slowHead)
    // More bytes of the same headers do not extend the time.
    _ = try send("TP/1.1\r\nHost: ", slowHead)
    #expect(slowHead.isActive)
    let late = try later(1, slowHead)
    #expect(late.hasPrefix("HTTP/1.1 408") && late.contains("x-request-id: "))

    let slowBody = try connection(limits)
    _ = try send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\no", slowBody)
    #expect(try later(29, slowBody).isEmpty)
    #expect(try later(1, slowBody).hasPrefix("HTTP/1.1 408"))

    // A read without bytes does not begin a request, so it must not cause a 408 before the next one.
    let vain = try connection(limits)
    _ = try send(post("/now", "a"), vain)
    vain.pipeline.fireChannelReadComplete()
    #expect(try later(74, vain).isEmpty)
    #expect(vain.isActive)
    #expect(try send(post("/now", "b"), vain).hasSuffix("b"))

    let idle = try connection(limits)
    for _ in 0..<3 {
      _ = try send(post("/now", "a"), idle)
      _ = try later(74, idle)
      #expect(idle.isActive)
    }
    _ = try later(1, idle)
    #expect(!idle.isActive)
  }

  @Test func `While the service drains, every answer ends its connection`() throws {
    let channel = try connection(draining: true)
    #expect(try send(post("/now", "a"), channel).contains("connection: close"))
  }

  @Test func `A server that stops listening closes idle connections, and busy ones after their answer`() throws {
    let idle = try connection()
    _ = try send(post("/now", "a"), idle)
    idle.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(!idle.isActive)

    let busy = try connection()
    _ = try send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n", busy)
    busy.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    #expect(busy.isActive)
    #expect(try send("ok", busy).contains("connection: close"))
  }

  @Test func `A client that closes its side after a request gets the answer before the connection ends`() throws {
    for path in ["/now", "/refused"] {
      let channel = try connection()
      // Both happen in one turn of the event loop, before anything is sent.
      try channel.writeInbound(ByteBuffer(string: post(path, "a")))
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      channel.embeddedEventLoop.run()
      #expect(try received(channel).hasPrefix(path == "/now" ? "HTTP/1.1 200" : "HTTP/1.1 403"))
      #expect(!channel.isActive)
    }
  }

  @Test func `A connection that closes cancels the work of its request, unless a retry will ask for the result`() async throws {
    for path in ["/call", "/pull", "/keyed"] {
      let channel = try connection()
      _ = try send(post(path, "a"), channel)
      _ = try? channel.finish()
    }
    try await Task.sleep(for: .milliseconds(200))
    #expect(probe.cancelled.withLock { $0 } == ["/call", "/pull"])
  }

  @Test func `A client that closes its side ends only work that waits`() async throws {
    for path in ["/call", "/pull", "/keyed"] {
      let channel = try connection()
      try channel.writeInbound(ByteBuffer(string: post(path, "a")))
      channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
      channel.embeddedEventLoop.run()
      #expect(channel.isActive)
    }
    try await Task.sleep(for: .milliseconds(200))
    #expect(probe.cancelled.withLock { $0 } == ["/pull"])
  }

  @Test func `HTTP 1.0 is kept alive only when it asks`() throws {
    let channel = try connection()
    let kept = try send("GET /now HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", channel)
    #expect(kept.contains("connection: keep-alive"))
    #expect(try send("GET /now HTTP/1.0\r\n\r\n", channel).contains("connection: close"))
  }

  @Test func `The answer to HEAD has the length and no body`() throws {
    let channel = try connection()
    let response = try send("HEAD /now HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nok", channel)
    #expect(response.contains("content-length: 2\r\n"))
    #expect(response.hasSuffix("\r\n\r\n"))
  }

  @Test func `A line break in a header value adds no other header`() {
    var writer = HTTP1Response()
    var buffer = ByteBuffer()
    let response = HTTPResponse(status: 200, headers: ["a": "b\r\nx: y", "c": "d"])
    writer.write(response, into: &buffer, withoutBody: false, close: false, keepAlive10: false)
    let text = String(buffer: buffer)
    #expect(!text.contains("x: y"))
    #expect(text.contains("c: d\r\n"))
  }
}
