import Foundation
import HTTPClient
import Synchronization
import TestSupport
import Testing

@Suite("Posting to many servers")
struct PostLoopTests {
  private func post(
    _ loop: PostLoop, _ url: String, body: [UInt8] = [1, 2, 3], timeout: Duration = .seconds(10), allowsHTTP: Bool = true
  ) async -> PostOutcome {
    let request = PostRequest(
      url: url, headers: [("X-One", "1"), ("Content-Type", "text/plain")], body: body, timeout: timeout, allowsHTTP: allowsHTTP)
    return await withCheckedContinuation { continuation in
      loop.post(request) { continuation.resume(returning: $0) }
    }
  }

  private func loop(_ allows: @escaping @Sendable ([UInt8]) -> Bool = { _ in true }) -> PostLoop {
    PostLoop(configuration: HTTPClientConfiguration(), allows: allows)
  }

  private func expect(_ outcome: PostOutcome, _ expected: PostOutcome, _ place: SourceLocation = #_sourceLocation) {
    #expect(outcome == expected, sourceLocation: place)
  }

  @Test("body and headers arrive, status and Retry-After are returned, and the connection is reused")
  func round() async {
    let seen = Mutex<[SmallServer.Request]>([])
    let server = SmallServer { request in
      seen.withLock { $0.append(request) }
      return .ok("x", headers: ["retry-after: 7"], status: "503 Busy")
    }
    let loop = loop()
    for _ in 0..<5 {
      let outcome = await post(loop, server.url + "/a")
      #expect(outcome == .answered(status: 503, retryAfter: "7"))
      #expect(outcome.retryAfter(now: 0) == .seconds(7))
    }
    let first = seen.withLock { $0[0] }
    #expect(first.method == "POST" && first.path == "/a" && first.body == [1, 2, 3])
    #expect(first.headers["x-one"] == "1" && first.headers["content-type"] == "text/plain")
    #expect(server.connections == 1)
  }

  @Test("the address is checked after the name was resolved, and a refused address is never connected to")
  func addresses() async {
    let server = SmallServer { _ in .ok("") }
    let checked = Mutex<[[UInt8]]>([])
    let loop = loop { address in
      checked.withLock { $0.append(address) }
      return false
    }
    await expect(post(loop, "http://localhost:\(server.port)/"), .addressRefused)
    #expect(checked.withLock { $0.contains([127, 0, 0, 1]) })
    #expect(server.connections == 0)
  }

  @Test("nothing is sent in clear text if that is not allowed")
  func clearText() async {
    let server = SmallServer { _ in .ok("") }
    guard case .failed = await post(loop(), server.url, allowsHTTP: false) else {
      Issue.record("it was posted")
      return
    }
    #expect(server.connections == 0)
    await expect(post(loop(), server.url), .answered(status: 200, retryAfter: nil))
  }

  @Test("a redirect is an answer")
  func redirect() async {
    let server = SmallServer { _ in .ok("", headers: ["Location: /b"], status: "302 Found") }
    await expect(post(loop(), server.url), .answered(status: 302, retryAfter: nil))
  }

  @Test("a server that hangs does not delay others, and its request ends at the timeout")
  func hanging() async {
    let hanging = SmallServer { _ in .silence }
    let server = SmallServer { _ in .ok("") }
    let loop = loop()
    await withTaskGroup(of: (Bool, PostOutcome).self) { group in
      for _ in 0..<50 { group.addTask { (true, await self.post(loop, hanging.url, timeout: .milliseconds(1500))) } }
      for _ in 0..<200 { group.addTask { (false, await self.post(loop, server.url)) } }
      for await (hangs, outcome) in group { #expect(outcome == (hangs ? .failed(.timedOut) : .answered(status: 200, retryAfter: nil))) }
    }
  }

  @Test("an endless answer is cut off, and its status is used")
  func endless() async {
    let server = SmallServer { _ in .ok(String(repeating: "x", count: 1 << 20)) }
    await expect(post(loop(), server.url), .answered(status: 200, retryAfter: nil))
  }

  @Test("without a listener there is an error; a loop that has ended posts nothing")
  func errors() async {
    let loop = loop()
    guard case .failed(.couldNotConnect) = await post(loop, "http://127.0.0.1:1/") else { Issue.record("no error"); return }
    loop.shutdown()
    await expect(post(loop, "http://127.0.0.1:1/"), .failed(.cancelled))
  }

  @Test("a request keeps nothing of the previous one: URL, headers, body, timeout, permission or answer")
  func reuse() async {
    let seen = Mutex<[SmallServer.Request]>([])
    let server = SmallServer { request in
      seen.withLock { $0.append(request) }
      switch request.path {
      case "/busy": return .ok("", headers: ["Retry-After: 7"], status: "503 Busy")
      case "/away": return .ok("", status: "503 Busy")
      case "/hangs": return .silence
      default: return .ok("")
      }
    }
    // One request after the other, so that one handle makes all of them.
    let loop = loop()
    func post(_ path: String, _ headers: [(name: String, value: String)], _ body: [UInt8], timeout: Duration = .seconds(10)) async
      -> PostOutcome
    {
      let request = PostRequest(url: server.url + path, headers: headers, body: body, timeout: timeout, allowsHTTP: true)
      return await withCheckedContinuation { continuation in loop.post(request) { continuation.resume(returning: $0) } }
    }
    let large = [UInt8](repeating: 7, count: 40_000)
    await expect(
      post("/busy", [("X-Secret", "of one"), ("Content-Type", "text/plain")], [1, 2, 3]), .answered(status: 503, retryAfter: "7"))
    await expect(post("/away", [], []), .answered(status: 503, retryAfter: nil))
    await expect(post("/large", [("X-Empty", "")], large), .answered(status: 200, retryAfter: nil))
    await expect(post("/hangs", [], [4], timeout: .milliseconds(300)), .failed(.timedOut))
    await expect(post("/small", [("X-Other", "2")], [5]), .answered(status: 200, retryAfter: nil))
    let hasClearText = await self.post(loop, server.url + "/refused", allowsHTTP: false)
    guard case .failed = hasClearText else { Issue.record("it was posted in clear text"); return }
    let requests = seen.withLock { $0 }
    #expect(requests.map(\.path) == ["/busy", "/away", "/large", "/hangs", "/small"])
    #expect(requests.map(\.body) == [[1, 2, 3], [], large, [4], [5]])
    #expect(requests.map { $0.headers["x-secret"] } == ["of one", nil, nil, nil, nil])
    #expect(requests.map { $0.headers["content-type"] } == ["text/plain", nil, nil, nil, nil])
    #expect(requests.map { $0.headers["x-empty"] } == [nil, nil, "", nil, nil])
    #expect(requests.map { $0.headers["x-other"] } == [nil, nil, nil, nil, "2"])
  }

  @Test("requests are distributed to the threads in turn, or made by a named thread")
  func threads() async {
    let server = SmallServer { _ in .ok("") }
    let loops = PostLoops(count: 3, configuration: HTTPClientConfiguration()) { _ in true }
    func thread(on thread: Int?) async -> Int {
      let request = PostRequest(url: server.url, headers: [], body: [1], timeout: .seconds(10), allowsHTTP: true)
      return await withCheckedContinuation { continuation in
        loops.post(request, on: thread) { outcome, thread in
          expect(outcome, .answered(status: 200, retryAfter: nil))
          continuation.resume(returning: thread)
        }
      }
    }
    var told: [Int] = []
    for _ in 0..<6 { told.append(await thread(on: nil)) }
    #expect(told.sorted() == [0, 0, 1, 1, 2, 2])
    for named in 0..<3 { #expect(await thread(on: named) == named) }
    loops.shutdown()
  }
}
