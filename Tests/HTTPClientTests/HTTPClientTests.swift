import Glibc
import Synchronization
import TestSupport
import Testing

@testable import HTTPClient

@Suite("HTTP client")
struct HTTPClientTests {
  func get(_ url: String, timeout: Duration = .seconds(5), maxResponseBytes: Int = 1 << 20) -> HTTPClientRequest {
    HTTPClientRequest(method: "GET", url: url, timeout: timeout, maxResponseBytes: maxResponseBytes)
  }

  @Test("a request arrives unchanged, and its complete answer is returned")
  func roundTrip() async throws {
    let seen = Mutex<SmallServer.Request?>(nil)
    let server = SmallServer { request in
      seen.withLock { $0 = request }
      return .ok("hello", headers: ["X-One: 1", "x-one: 2", "Empty:"], status: "404 Not Found")
    }
    defer { server.stop() }
    let client = HTTPClient()
    let response = try await client.send(
      HTTPClientRequest(
        method: "PUT", url: server.url + "/a/b?c=d%2F", headers: [("X-Test", "yes"), ("Content-Type", "text/x")], body: Array("body".utf8)))
    let request = try #require(seen.withLock { $0 })
    #expect(request.method == "PUT" && request.path == "/a/b?c=d%2F" && request.body == Array("body".utf8))
    #expect(request.headers["x-test"] == "yes" && request.headers["content-type"] == "text/x")
    #expect(request.headers["expect"] == nil)
    #expect(response.status == 404 && response.body == Array("hello".utf8) && response.httpVersion == "1.1")
    #expect(response[header: "X-ONE"] == "1" && response[header: "empty"] == "" && response[header: "none"] == nil)
    #expect(response.headers.filter { $0.name.lowercased() == "x-one" }.map(\.value) == ["1", "2"])
  }

  @Test(
    "the difference of the clocks is that between the Date header and the time from the request to the response",
    arguments: [
      ("Thu, 10 Sep 2026 00:26:40 GMT", 0), ("Thu, 10 Sep 2026 00:26:41 GMT", 0), ("Thu, 10 Sep 2026 00:26:42 GMT", 0),
      ("Thu, 10 Sep 2026 00:26:43 GMT", -1), ("Thu, 10 Sep 2026 00:26:39 GMT", 1), ("Thu, 10 Sep 2026 00:16:40 GMT", 600),
      ("Thu, 10 Sep 2026 00:36:42 GMT", -600), ("soon", nil), (nil, nil),
    ] as [(String?, Int64?)])
  func clockDifference(header: String?, seconds: Int64?) {
    let response = HTTPClientResponse(status: 401, headers: header.map { [("date", $0)] } ?? [], body: [], httpVersion: "2")
    #expect(response.clockDifference(sentAt: 1_789_000_000_900, receivedAt: 1_789_000_002_100) == seconds)
  }

  @Test(
    "Retry-After is read as seconds or as a date",
    arguments: [
      ("0", 0), (" 120 ", 120), ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun, 06 Nov 1994 08:48:00 GMT", 0), ("-1", nil), ("", nil),
      ("soon", nil), ("1.5", nil), ("soon, or later", nil), ("99999999999999999999", nil),
    ] as [(String, Int?)])
  func retryAfter(header: String, seconds: Int?) {
    let response = HTTPClientResponse(status: 429, headers: [("retry-after", header)], body: [], httpVersion: "2")
    #expect(response.retryAfter(now: 784_111_740) == seconds.map { .seconds($0) })
    #expect(HTTPClientResponse(status: 429, headers: [], body: [], httpVersion: "2").retryAfter(now: 0) == nil)
  }

  @Test("a reused handle keeps nothing of the previous request")
  func handles() async throws {
    let server = SmallServer { request in
      .ok("\(request.method) \(request.headers["x-one"] ?? "-") \(request.headers["content-type"] ?? "-") \(request.body.count)")
    }
    defer { server.stop() }
    let client = HTTPClient()
    for round in 0..<3 {
      let post = try await client.send(
        HTTPClientRequest(
          method: "POST", url: server.url, headers: [("X-One", "\(round)"), ("Content-Type", "text/plain")], body: [1, 2, 3]))
      #expect(String(decoding: post.body, as: UTF8.self) == "POST \(round) text/plain 3")
      let get = try await client.send(get(server.url))
      #expect(String(decoding: get.body, as: UTF8.self) == "GET - - 0")
      let head = try await client.send(HTTPClientRequest(method: "HEAD", url: server.url))
      #expect(head.body.isEmpty)
    }
  }

  @Test("empty and large bodies are sent completely, without 100-continue", arguments: [0, 1, 100_000, 5_000_000])
  func bodies(size: Int) async throws {
    let server = SmallServer { .ok(String($0.body.count) + " " + ($0.headers["content-length"] ?? "none")) }
    defer { server.stop() }
    let body = [UInt8](repeating: 7, count: size)
    let response = try await HTTPClient().send(HTTPClientRequest(method: "POST", url: server.url, body: body))
    #expect(String(decoding: response.body, as: UTF8.self) == "\(size) \(size)")
  }

  @Test("a server that does not answer is a timeout")
  func timeout() async {
    let server = SmallServer { _ in .silence }
    defer { server.stop() }
    await #expect(throws: HTTPClientError.timedOut) { try await HTTPClient().send(get(server.url, timeout: .milliseconds(200))) }
  }

  @Test("an incomplete answer is a connection error, or a timeout if the connection stays open")
  func cut() async {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
    let server = SmallServer { request in
      switch request.path {
      case "/close": .bytesThenClose(Array(head.utf8))
      case "/reset": .bytesThenReset(Array(head.utf8))
      case "/nothing": .bytesThenClose([])
      default: .bytes(Array(head.utf8))
      }
    }
    defer { server.stop() }
    let client = HTTPClient()
    for path in ["/close", "/reset", "/nothing"] {
      do {
        _ = try await client.send(get(server.url + path))
        Issue.record("\(path) was answered")
      } catch {
        guard case .connectionReset = error else {
          Issue.record("\(path): \(error)")
          continue
        }
      }
    }
    await #expect(throws: HTTPClientError.timedOut) { try await client.send(get(server.url + "/wait", timeout: .milliseconds(200))) }
  }

  @Test("without a listener the error is a failed connection")
  func refused() async {
    let server = SmallServer { _ in .silence }
    let url = server.url
    server.stop()
    do {
      _ = try await HTTPClient().send(get(url))
      Issue.record("answered")
    } catch {
      guard case .couldNotConnect = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test(
    "an invalid URL or another protocol is refused",
    arguments: ["", "http://", "ftp://127.0.0.1/", "file:///etc/passwd", "nonsense://x"])
  func badURL(url: String) async {
    await #expect(throws: HTTPClientError.self) { try await HTTPClient().send(get(url)) }
  }

  @Test("an answer with the length of the limit is accepted, a longer one is not, with or without Content-Length")
  func tooLarge() async throws {
    let server = SmallServer { request in
      let body = String(repeating: "x", count: 1000)
      return request.path == "/stated"
        ? .ok(body) : .bytesThenClose(Array("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\(body)".utf8))
    }
    defer { server.stop() }
    let client = HTTPClient()
    for path in ["/stated", "/unstated"] {
      #expect(try await client.send(get(server.url + path, maxResponseBytes: 1000)).body.count == 1000)
      await #expect(throws: HTTPClientError.tooLarge(limit: 999)) {
        try await client.send(get(server.url + path, maxResponseBytes: 999))
      }
    }
  }

  @Test("an answer that never ends is cut off at the limit")
  func endless() async {
    let server = SmallServer { _ in
      .bytes(
        Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
          + Array(String(repeating: "400\r\n" + String(repeating: "x", count: 1024) + "\r\n", count: 2000).utf8))
    }
    defer { server.stop() }
    await #expect(throws: HTTPClientError.tooLarge(limit: 65_536)) {
      try await HTTPClient().send(get(server.url, maxResponseBytes: 65_536))
    }
  }

  @Test("a redirect is returned as the answer and not followed")
  func redirect() async throws {
    let server = SmallServer { request in
      request.path == "/" ? .ok("", headers: ["Location: /elsewhere"], status: "302 Found") : .ok("followed")
    }
    defer { server.stop() }
    let response = try await HTTPClient().send(get(server.url + "/"))
    #expect(response.status == 302 && response[header: "location"] == "/elsewhere" && response.body.isEmpty)
  }

  @Test("headers of an informational response are not part of the final response")
  func informational() async throws {
    let server = SmallServer { _ in
      .bytes(Array("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8))
    }
    defer { server.stop() }
    let response = try await HTTPClient().send(get(server.url))
    #expect(response.status == 200 && response[header: "x-early"] == nil && response[header: "content-length"] == "2")
  }

  @Test("a header value cannot inject another header")
  func headerInjection() async throws {
    let seen = Mutex<[String: String]>([:])
    let server = SmallServer { request in
      // Another test's client may retry a request to the port that its server had.
      if request.headers["x-e"] != nil { seen.withLock { $0 = request.headers } }
      return .ok("")
    }
    defer { server.stop() }
    var request = get(server.url)
    request.headers = [("X-A", "1\r\nX-B: 2"), ("X-C\r\nX-D", "3"), ("X-E", "4")]
    _ = try await HTTPClient().send(request)
    let headers = seen.withLock { $0 }
    #expect(headers["x-b"] == nil && headers["x-d"] == nil && headers["x-e"] == "4")
  }

  @Test("connections are kept open and reused by later requests")
  func reuse() async throws {
    let server = SmallServer { _ in .ok("ok") }
    defer { server.stop() }
    let client = HTTPClient()
    for _ in 0..<20 { _ = try await client.send(get(server.url)) }
    #expect(server.connections == 1)
  }

  @Test("two hundred concurrent requests each get their own answer, within the connection limit")
  func concurrency() async throws {
    let server = SmallServer { request in
      usleep(UInt32.random(in: 0...5000))
      return .ok(request.path)
    }
    defer { server.stop() }
    var configuration = HTTPClientConfiguration()
    configuration.maxConnectionsPerHost = 8
    let client = HTTPClient(configuration: configuration)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        group.addTask {
          for turn in 0..<5 {
            let path = "/\(index)-\(turn)"
            let response = try await client.send(HTTPClientRequest(method: "GET", url: server.url + path, timeout: .seconds(30)))
            #expect(String(decoding: response.body, as: UTF8.self) == path)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect((2...8).contains(server.mostAtOnce))
  }

  @Test("a request that must not be repeated is sent once, even if a reused connection breaks before the answer")
  func once() async throws {
    let seen = Mutex(0)
    let server = SmallServer { request in
      guard request.path == "/change" else { return .ok("ok") }
      seen.withLock { $0 += 1 }
      return .bytesThenReset([])
    }
    defer { server.stop() }
    let client = HTTPClient()
    func change(isRepeatable: Bool) async -> HTTPClientError? {
      do throws(HTTPClientError) {
        _ = try await client.send(
          HTTPClientRequest(method: "PUT", url: server.url + "/change", body: Array("{}".utf8), isRepeatable: isRepeatable))
        return nil
      } catch { return error }
    }
    #expect(try await client.send(get(server.url + "/")).status == 200)
    let error = await change(isRepeatable: false)
    #expect(error != nil)
    #expect(seen.withLock { $0 } == 1)
    // A request that may be repeated is sent again when the reused connection breaks.
    #expect(try await client.send(get(server.url + "/")).status == 200)
    _ = await change(isRepeatable: true)
    #expect(seen.withLock { $0 } == 3)
  }

  @Test("a cancelled task gets its error without waiting for an answer, and the client still works")
  func cancellation() async throws {
    let server = SmallServer { $0.path == "/never" ? .silence : .ok("ok") }
    defer { server.stop() }
    let client = HTTPClient()
    let url = server.url
    let tasks = (0..<12).map { index in
      Task {
        do throws(HTTPClientError) {
          _ = try await client.send(HTTPClientRequest(method: "GET", url: url + "/never", timeout: .seconds(30)))
          return nil as HTTPClientError?
        } catch { return error }
      }
    }
    try await Task.sleep(for: .milliseconds(100))
    for task in tasks { task.cancel() }
    for task in tasks { #expect(await task.value == .cancelled) }
    #expect(try await client.send(get(url + "/")).status == 200)
  }

  @Test("a task that was already cancelled sends nothing")
  func cancelledBefore() async {
    let server = SmallServer { _ in .ok("ok") }
    defer { server.stop() }
    let client = HTTPClient()
    let request = get(server.url)
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      do throws(HTTPClientError) {
        _ = try await client.send(request)
        return nil as HTTPClientError?
      } catch { return error }
    }
    task.cancel()
    #expect(await task.value == .cancelled)
    #expect(server.connections == 0)
  }

  @Test("cancelling at any moment answers every caller exactly once")
  func cancellationRace() async throws {
    let server = SmallServer { _ in .ok("ok") }
    defer { server.stop() }
    let client = HTTPClient()
    let url = server.url
    for _ in 0..<20 {
      let tasks = (0..<20).map { _ in
        Task { try? await client.send(HTTPClientRequest(method: "GET", url: url, timeout: .seconds(10))).status }
      }
      try await Task.sleep(for: .microseconds(Int.random(in: 0...3000)))
      for task in tasks { task.cancel() }
      for task in tasks {
        let status = await task.value
        #expect(status == nil || status == 200)
      }
    }
  }

  @Test("shutting down a client ends all waiting requests")
  func shutdown() async throws {
    let server = SmallServer { _ in .silence }
    defer { server.stop() }
    let client = HTTPClient()
    let request = get(server.url, timeout: .seconds(30))
    let waiting = Task {
      do throws(HTTPClientError) {
        _ = try await client.send(request)
        return nil as HTTPClientError?
      } catch { return error }
    }
    try await Task.sleep(for: .milliseconds(100))
    client.shutdown()
    #expect(await waiting.value == .cancelled)
    await #expect(throws: HTTPClientError.cancelled) { try await client.send(request) }
  }

  @Test("connections use the given address, and the host name of the URL")
  func connectTo() async throws {
    let server = SmallServer { .ok($0.headers["host"] ?? "") }
    defer { server.stop() }
    var configuration = HTTPClientConfiguration()
    configuration.connectTo = "127.0.0.1:\(server.port)"
    let response = try await HTTPClient(configuration: configuration).send(get("http://consent.example.org/x"))
    #expect(String(decoding: response.body, as: UTF8.self) == "consent.example.org")
  }

  @Test("a server without TLS causes a TLS error")
  func tls() async {
    let server = SmallServer { _ in .ok("ok") }
    defer { server.stop() }
    do {
      _ = try await HTTPClient().send(get("https://127.0.0.1:\(server.port)/", timeout: .seconds(2)))
      Issue.record("answered")
    } catch {
      switch error {
      case .tls, .connectionReset, .timedOut: break
      default: Issue.record("\(error)")
      }
    }
  }

  @Test("errors contain neither headers nor bodies")
  func noSecrets() async {
    let server = SmallServer { _ in .bytesThenClose(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nsecret-in-body".utf8)) }
    defer { server.stop() }
    var request = get(server.url + "/?q=secret-in-query")
    request.headers = [("Authorization", "Bearer secret-in-header")]
    do {
      _ = try await HTTPClient().send(request)
      Issue.record("answered")
    } catch {
      #expect(!"\(error)".contains("secret"))
    }
  }
}
