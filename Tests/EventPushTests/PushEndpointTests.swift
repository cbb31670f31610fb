import ServiceRuntime
import Testing

@testable import AttributionQueue
@testable import EventPush

@Suite("Endpoint and feed")
struct PushEndpointTests {
  @Test("no event is posted before an earlier one of its subject that was found and not offered yet")
  func order() async throws {
    let server = try await FeedServer()
    let (subscription, settings) = try await server.endpoint(isOrdered: true)
    _ = try await server.parts.tails.poll()
    let endpoint = try await PushEndpoint.open(subscription, settings, server.parts)
    try await endpoint.readAll()
    endpoint.offer([])
    _ = try await server.publish("first", shard: 1)
    try await Task.sleep(for: .milliseconds(3))
    _ = try await server.publish("second", shard: 2)
    try await Task.sleep(for: .milliseconds(3))
    let (newEvents, _) = try await server.parts.tails.poll()
    // In between, one of the shards is read again.
    endpoint.locked.withLock { _ = $0.unreadShards.insert(2) }
    try await endpoint.readAll()
    #expect(endpoint.next().isEmpty)
    endpoint.offer(newEvents)
    #expect(endpoint.next() == ["first"])
  }

  @Test("a waiting event gets a full retry period when its endpoint is enabled or moved")
  func periods() async throws {
    let server = try await FeedServer()
    let (subscription, settings) = try await server.endpoint { $0.enable(now: 5_000) }
    let position = try await server.publish("e", shard: 3)
    let left = UnsettledEvents(
      cursor: position.feedPosition, offset: 1, base: .beginning,
      events: [.init(position: position.feedPosition, offset: 1, attempts: 40, firstFailure: 2_000)])
    #expect(try await server.feed.note([.init(shard: position.shard, position: nil, unsettled: left)], of: subscription))
    var health = EndpointHealth()
    (health.failingSince, health.retryAt) = (2_000, .max)
    try await server.feed.setEndpointHealth(subscription, health.json)
    let endpoint = try await PushEndpoint.open(subscription, settings, server.parts)
    #expect(endpoint.locked.withLock { $0.state.attempts(position) } == EndpointState.Attempts(count: 1, first: 5_000))
    #expect(!endpoint.isSuspect && endpoint.next() == ["e"])
  }

  @Test("an unreadable event is reported and delays no other event")
  func unreadable() async throws {
    let server = try await FeedServer()
    let (subscription, settings) = try await server.endpoint(.binary)
    let position = try await server.publish("broken", shard: 4, json: "{")
    _ = try await server.parts.tails.poll()
    let endpoint = try await PushEndpoint.open(subscription, settings, server.parts)
    try await endpoint.readAll()
    endpoint.setPaused(false)
    try await endpoint.skipUnpostable()
    try await endpoint.publishGivenUp()
    #expect(try await endpoint.storeProgress())
    #expect(try await server.feed.positions(subscription)[position.shard] == position.feedPosition)
    let told = try #require(try await server.feed.event("undelivered:p:broken"))
    #expect(String(decoding: told, as: UTF8.self).contains(#""eventId":"broken""#))
  }

  @Test("the end of a former endpoint does not end its replacement, and is not reported")
  func moved() async throws {
    let server = try await FeedServer()
    let (subscription, settings) = try await server.endpoint()
    let endpoint = try await PushEndpoint.open(subscription, settings, server.parts)
    _ = try await server.feed.setPush("p") { json in
      guard var settings = EndpointSettings(json: json) else { return json }
      settings.move(to: "https://other.example/", now: 2_000)
      return settings.json
    }
    try await endpoint.end(.gone)
    let present = try #require(try await server.feed.subscription("p")?.push.flatMap { EndpointSettings(json: $0) })
    #expect(present.state == .enabled)
    #expect(try await server.feed.event("endpoint-gone:p:0:1000") == nil)
    // The end of the current endpoint is stored.
    let current = try #require(try await server.feed.subscription("p"))
    try await PushEndpoint.open(current, present, server.parts).end(.gone)
    #expect(try await server.feed.subscription("p")?.push.flatMap { EndpointSettings(json: $0) }?.state == .gone)
  }
}
