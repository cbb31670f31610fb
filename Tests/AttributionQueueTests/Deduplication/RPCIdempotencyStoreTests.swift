import Testing

@testable import AttributionQueue

@Suite("Idempotency keys of RPCs")
struct RPCIdempotencyStoreTests {
  @Test("a key is claimed once, replayed when finished, refused for another request, free again when released or its lease ends")
  func table() async throws {
    let redis = try RedisServer()
    let store = RPCIdempotencyStore(deliveries: try await redis.queue())
    guard case .new(let owner) = try await store.claim(scope: "c\nm\nk", fingerprint: "f", lease: .seconds(30)) else {
      Issue.record("not new")
      return
    }
    #expect(try await store.claim(scope: "c\nm\nk", fingerprint: "f", lease: .seconds(30)) == .running)
    #expect(try await store.claim(scope: "c\nm\nk", fingerprint: "g", lease: .seconds(30)) == .reused)
    try await store.finish(scope: "c\nm\nk", owner: "somebody else", status: 200, code: "ok", body: [1])
    #expect(try await store.claim(scope: "c\nm\nk", fingerprint: "f", lease: .seconds(30)) == .running)
    try await store.finish(scope: "c\nm\nk", owner: owner, status: 200, code: "ok", body: Array("{}".utf8))
    #expect(
      try await store.claim(scope: "c\nm\nk", fingerprint: "f", lease: .seconds(30))
        == .done(status: 200, code: "ok", body: Array("{}".utf8)))
    #expect(try await store.claim(scope: "c\nm\nk", fingerprint: "g", lease: .seconds(30)) == .reused)
    guard case .new(let second) = try await store.claim(scope: "d\nm\nk", fingerprint: "f", lease: .seconds(30)) else {
      Issue.record("another caller's key is another key")
      return
    }
    try await store.release(scope: "d\nm\nk", owner: second)
    guard case .new = try await store.claim(scope: "d\nm\nk", fingerprint: "x", lease: .milliseconds(50)) else {
      Issue.record("a released key is free")
      return
    }
    try await Task.sleep(for: .milliseconds(120))
    guard case .new = try await store.claim(scope: "d\nm\nk", fingerprint: "y", lease: .milliseconds(50)) else {
      Issue.record("a lease that ended frees the key")
      return
    }
  }
}
