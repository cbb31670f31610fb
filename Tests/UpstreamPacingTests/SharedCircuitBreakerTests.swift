import RedisClient
import RedisTestSupport
import TestSupport
import Testing

@testable import UpstreamPacing

@Suite("Shared circuit breaker")
struct SharedCircuitBreakerTests {
  private static let rule = CircuitBreaker.Rule(
    window: 20_000, minCalls: 6, firstPause: 300, maxPause: 2000, jitter: 0, probeTimeout: 600)

  /// Waits until a call is admitted.
  private func leave(_ breaker: SharedCircuitBreaker) async throws -> SharedCircuitBreaker.Permit {
    while true {
      switch await breaker.admit() {
      case .call(let permit): return permit
      case .wait(let wait): try await Task.sleep(for: .milliseconds(wait))
      }
    }
  }

  /// Records failures until it is open.
  private func open(_ breakers: [SharedCircuitBreaker]) async {
    while breakers.allSatisfy({ $0.phase == .closed }) {
      for breaker in breakers {
        if case .call(let permit) = await breaker.admit() { await breaker.record(permit, .failed) }
      }
    }
  }

  @Test("the scripts and the circuit breaker decide alike, and a lost script cache is survived")
  func model() async throws {
    try await withRedis { client, _ in
      var random = SeededRandom("shared circuit breaker")
      for round in 0..<25 {
        let rule = CircuitBreaker.Rule(
          window: .random(in: 20...200, using: &random), minCalls: .random(in: 1...6, using: &random),
          failureShare: .random(in: 0.1...1, using: &random), firstPause: .random(in: 1...8, using: &random),
          maxPause: .random(in: 1...20, using: &random), jitter: 0, probes: .random(in: 1...3, using: &random),
          probeTimeout: .random(in: 1...10, using: &random))
        let store = BreakerStore(redis: client, key: "{b}:\(round)", rule: rule)
        var model = CircuitBreaker(rule)
        // Calls in progress, as known to the model and to Redis.
        var running: [(CircuitBreaker.Permit, period: Int64, probe: Int64?)] = []
        for step in 0..<80 {
          if step == 40 { try await client.send(["SCRIPT", "FLUSH"]) }
          if Int.random(in: 0..<3, using: &random) == 0 { try await Task.sleep(for: .milliseconds(.random(in: 0...6, using: &random))) }
          if Bool.random(using: &random) || running.isEmpty {
            let reply = try #require(await store.probe())
            switch model.admit(now: reply.now) {
            case .call(let permit):
              #expect(permit.isProbe == (reply.probe != nil))
              running.append((permit, reply.state.period, reply.probe))
            case .wait(let wait):
              #expect(reply.probe == nil && reply.state.phase != .closed)
              if reply.state.phase == .open { #expect(reply.state.wait == wait) }
            }
            #expect(reply.state.phase == model.phase)
          } else {
            let call = running.remove(at: .random(in: 0..<running.count, using: &random))
            let result = [CircuitBreaker.Result.succeeded, .failed, .abandoned].randomElement(using: &random)!
            let reply: BreakerStore.Reply?
            if let probe = call.probe {
              reply = await store.end(probe, period: call.period, result, shortening: 0)
            } else {
              reply = await store.count(
                .init(period: call.period, succeeded: result == .succeeded ? 1 : 0, failed: result == .failed ? 1 : 0), shortening: 0)
            }
            let found = try #require(reply)
            model.record(call.0, result, now: found.now)
            #expect(found.state.phase == model.phase)
          }
        }
      }
    }
  }

  @Test("all instances stop together when the server fails, one probes, and all resume together")
  func together() async throws {
    try await withRedis { client, _ in
      var rule = Self.rule
      rule.probeTimeout = 30_000
      let breakers = (0..<3).map { _ in SharedCircuitBreaker(redis: client, key: "{b}:t", rule: rule) }
      // Each instance has a third of the failures, which is too few to open by itself.
      for _ in 0..<2 {
        for breaker in breakers { await breaker.record(try await leave(breaker), .failed) }
      }
      try await Task.sleep(for: .milliseconds(SharedBreakerView.freshness))
      for breaker in breakers {
        // On a slow machine the pause may be over.
        if case .call(let permit) = await breaker.admit() {
          #expect(permit.isProbe)
          await breaker.record(permit, .abandoned)
        }
        #expect(breaker.phase != .closed)
      }
      for round in 0..<3 {
        // All instances ask until one of them is admitted.
        var probes: [(SharedCircuitBreaker, SharedCircuitBreaker.Permit)] = []
        while probes.isEmpty {
          for breaker in breakers {
            if case .call(let permit) = await breaker.admit() { probes.append((breaker, permit)) }
          }
          try await Task.sleep(for: .milliseconds(20))
        }
        #expect(probes.count == 1)
        let (breaker, permit) = try #require(probes.first)
        #expect(permit.isProbe)
        for other in breakers {
          guard case .wait = await other.admit() else {
            Issue.record("a second one probes")
            return
          }
        }
        await breaker.record(permit, round == 2 ? .succeeded : .failed)
      }
      let before = breakers.map(\.observed.closings)
      try await Task.sleep(for: .milliseconds(SharedBreakerView.freshness))
      for (breaker, closings) in zip(breakers, before) {
        await breaker.refresh()
        // On a slow machine the query may have timed out.
        for _ in 0..<200 where breaker.phase != .closed {
          try await Task.sleep(for: .milliseconds(50))
          await breaker.refresh()
        }
        #expect(breaker.phase == .closed && breaker.observed.closings >= max(1, closings))
        #expect(try await leave(breaker).isProbe == false)
      }
    }
  }

  @Test("the probe of a dead instance is replaced when its lease ends, and its late result does not count")
  func deadProbe() async throws {
    try await withRedis { client, _ in
      let one = SharedCircuitBreaker(redis: client, key: "{b}:d", rule: Self.rule)
      let other = SharedCircuitBreaker(redis: client, key: "{b}:d", rule: Self.rule)
      await open([one])
      let lost = try await leave(one)
      let next = try await leave(other)
      #expect(lost.isProbe && next.isProbe)
      await one.record(lost, .failed)
      #expect(one.phase == .halfOpen)
      await other.record(next, .succeeded)
      #expect(other.phase == .closed)
      // The result of an instance that counted as dead.
      await one.record(lost, .failed)
      #expect(one.phase == .closed)
    }
  }

  @Test("while the server answers, there is one command each quarter of a second, and all keys expire")
  func cost() async throws {
    try await withRedis { client, _ in
      let breaker = SharedCircuitBreaker(redis: client, key: "{b}:c", rule: Self.rule)
      let began = ContinuousClock.now
      for _ in 0..<20_000 { await breaker.record(try await leave(breaker), .succeeded) }
      try await Task.sleep(for: .milliseconds(SharedBreakerView.freshness))
      _ = await breaker.admit()
      let queries = Int(began.duration(to: .now) / .milliseconds(SharedBreakerView.freshness)) + 2
      let stats = try await client.send(["INFO", "commandstats"]).string ?? ""
      // A script that Redis does not know is sent twice.
      let calls = stats.split(separator: "\n").filter { $0.contains("cmdstat_eval") }.compactMap { line in
        line.split(separator: "=").dropFirst().first?.split(separator: ",").first.flatMap { Int($0) }
      }
      #expect(!calls.isEmpty && calls.reduce(0, +) <= queries + 1)
      let counted = try await client.send(["HVALS", "{b}:c:results"]).array?.compactMap(\.integer) ?? []
      #expect(counted.reduce(0, +) == 20_000)
      #expect((try await client.send(["PTTL", "{b}:c:results"]).integer ?? -1) > 0)
    }
  }

  @Test("without Redis each instance uses its local state, and the shared state again afterwards")
  func absence() async throws {
    try await withRedis { client, redis in
      let breaker = SharedCircuitBreaker(redis: client, key: "{b}:a", rule: Self.rule)
      await breaker.record(try await leave(breaker), .succeeded)
      await redis.kill()
      await open([breaker])
      let probe = try await leave(breaker)
      #expect(probe.isProbe)
      await breaker.record(probe, .succeeded)
      #expect(breaker.phase == .closed)

      try redis.start()
      let second = try await redis.readyClient()
      let other = SharedCircuitBreaker(redis: second, key: "{b}:a", rule: Self.rule)
      await open([other])
      for _ in 0..<200 where breaker.phase == .closed {
        try await Task.sleep(for: .milliseconds(50))
        _ = await breaker.admit()
      }
      #expect(breaker.phase != .closed)
      second.close()
    }
  }
}
