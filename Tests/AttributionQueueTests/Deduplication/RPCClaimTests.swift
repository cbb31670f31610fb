import Testing

@testable import AttributionQueue

@Suite struct RPCClaimTests {
  private func owner(_ claim: RPCClaim) -> String? { if case .new(let owner) = claim { owner } else { nil } }

  @Test func `A key is new, then running, then done; another request under it is refused`() async throws {
    try await withQueue { queue, _ in
      let store = RPCIdempotencyStore(deliveries: queue)
      let lease = Duration.seconds(30)
      let mine = try #require(owner(try await store.claim(scope: "s", fingerprint: "f", lease: lease)))
      #expect(try await store.claim(scope: "s", fingerprint: "f", lease: lease) == .running)
      #expect(try await store.claim(scope: "s", fingerprint: "g", lease: lease) == .reused)
      #expect(owner(try await store.claim(scope: "other", fingerprint: "g", lease: lease)) != nil)
      // Another owner's answer changes nothing.
      try await store.finish(scope: "s", owner: "somebody", status: 200, code: "", body: [1])
      try await store.release(scope: "s", owner: "somebody")
      #expect(try await store.claim(scope: "s", fingerprint: "f", lease: lease) == .running)
      try await store.finish(scope: "s", owner: mine, status: 404, code: "not_found", body: [0, 255])
      let done = RPCClaim.done(status: 404, code: "not_found", body: [0, 255])
      #expect(try await store.claim(scope: "s", fingerprint: "f", lease: lease) == done)
      #expect(try await store.claim(scope: "s", fingerprint: "g", lease: lease) == .reused)
      // A finished call has no owner any more.
      try await store.release(scope: "s", owner: mine)
      #expect(try await store.claim(scope: "s", fingerprint: "f", lease: lease) == done)
    }
  }

  @Test func `A key is free again when its call releases it or its owner's lease ends`() async throws {
    try await withQueue { queue, _ in
      let store = RPCIdempotencyStore(deliveries: queue)
      let first = try #require(owner(try await store.claim(scope: "s", fingerprint: "f", lease: .milliseconds(200))))
      try await store.release(scope: "s", owner: first)
      let second = try #require(owner(try await store.claim(scope: "s", fingerprint: "g", lease: .milliseconds(200))))
      try await Task.sleep(for: .milliseconds(300))
      let third = try #require(owner(try await store.claim(scope: "s", fingerprint: "g", lease: .seconds(30))))
      #expect(second != third)
      try await store.finish(scope: "s", owner: second, status: 200, code: "", body: [])
      #expect(try await store.claim(scope: "s", fingerprint: "g", lease: .seconds(30)) == .running)
    }
  }

  @Test func `An owner renews its lease; nobody else does`() async throws {
    try await withQueue { queue, _ in
      let store = RPCIdempotencyStore(deliveries: queue)
      for (isOwner, expected) in [(true, true), (false, false)] {
        let scope = "s\(isOwner)"
        let mine = try #require(owner(try await store.claim(scope: scope, fingerprint: "f", lease: .milliseconds(300))))
        try await store.renew(scope: scope, owner: isOwner ? mine : "somebody", lease: .seconds(30))
        try await Task.sleep(for: .milliseconds(400))
        let isRunning = try await store.claim(scope: scope, fingerprint: "f", lease: .seconds(30)) == .running
        #expect(isRunning == expected)
      }
    }
  }

  @Test func `A call whose answer is not stored is executed again, and another request under its key is refused`() async throws {
    try await withQueue { queue, _ in
      let store = RPCIdempotencyStore(deliveries: queue)
      let lease = Duration.seconds(30)
      let first = try #require(owner(try await store.claim(scope: "s", fingerprint: "f", lease: lease)))
      try await store.finishWithoutAnswer(scope: "s", owner: first)
      #expect(try await store.claim(scope: "s", fingerprint: "g", lease: lease) == .reused)
      let second = try #require(owner(try await store.claim(scope: "s", fingerprint: "f", lease: lease)))
      #expect(first != second)
      #expect(try await store.claim(scope: "s", fingerprint: "f", lease: lease) == .running)
      // The second answer may be stored, for example by an older build.
      try await store.finish(scope: "s", owner: second, status: 200, code: "ok", body: [1])
      #expect(try await store.claim(scope: "s", fingerprint: "f", lease: lease) == .done(status: 200, code: "ok", body: [1]))
    }
  }
}
