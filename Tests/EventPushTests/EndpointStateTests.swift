import Testing

@testable import EventPush

@Suite("Posting to an endpoint")
struct EndpointStateTests {
  @Test("concurrent requests are limited, and events are posted in order of arrival")
  func concurrency() {
    var state = Sample.state { $0.maxConcurrent = 2 }
    for time in 1...5 { state.add(Sample.event(UInt64(time))) }
    let first = state.posts(now: 0)
    #expect(first.map(\.id) == ["e1-0", "e2-0"])
    state.succeeded(first[0].position, now: 1)
    #expect(state.posts(now: 1).map(\.id) == ["e3-0"])
    #expect(state.count == 4)
  }

  @Test("a refused event waits longer each time, and other events are posted meanwhile")
  func retries() {
    var state = Sample.state()
    let (poison, good) = (Sample.event(1), Sample.event(2))
    state.add(poison)
    #expect(state.posts(now: 0).count == 1)
    #expect(state.refuse(poison, now: 0) == .retried)
    state.add(good)
    #expect(state.posts(now: 1).map(\.id) == [good.id])
    state.succeeded(good.position, now: 2)
    #expect(state.posts(now: 4_999).isEmpty)
    #expect(state.posts(now: 5_000).map(\.id) == [poison.id])
    #expect(state.refuse(poison, now: 5_000) == .retried)
    #expect(state.posts(now: 14_999).isEmpty)
    #expect(state.posts(now: 15_000).map(\.id) == [poison.id])
    #expect(state.attempts(poison.position) == EndpointState.Attempts(count: 2, first: 0))
  }

  @Test("Retry-After is observed for the event, and for all events if the endpoint is busy")
  func retryAfter() {
    var state = Sample.state()
    let (one, other) = (Sample.event(1), Sample.event(2))
    state.add(one)
    _ = state.posts(now: 0)
    _ = state.refuse(one, now: 0, retryAfter: 30_000)
    #expect(state.posts(now: 29_999).isEmpty)
    #expect(state.posts(now: 30_000).count == 1)
    _ = state.refuse(one, now: 30_000, retryAfter: 40_000, isBusy: true)
    state.add(other)
    #expect(state.posts(now: 69_999).isEmpty)
    #expect(state.health.retryAt == 70_000)
    #expect(state.posts(now: 70_000).contains { $0.id == other.id })
  }

  @Test("the result of a running request does not shorten a Retry-After pause")
  func askedFor() {
    var state = Sample.state { $0.maxConcurrent = 8 }
    for time in 1...6 { state.add(Sample.event(UInt64(time))) }
    let events = state.posts(now: 0)
    _ = state.refuse(events[0], now: 10, retryAfter: 60_000)
    for event in events[1...2] { _ = state.refuse(event, now: 10) }
    _ = state.refuse(events[3], now: 20, retryAfter: 30_000, isBusy: true)
    #expect(state.isSuspect)
    state.succeeded(events[4].position, now: 30)
    #expect(!state.isSuspect && state.health.retryAt == 30_020)
    #expect(state.posts(now: 30_019).isEmpty, "it asked for that before it took one")
    #expect(state.posts(now: 30_020).map(\.id).sorted() == events[1...3].map(\.id))
    #expect(state.posts(now: 60_009).isEmpty)
    #expect(state.posts(now: 60_010).map(\.id) == [events[0].id])
    state.succeeded(events[0].position, now: 60_011)
    #expect(state.health.retryAt == nil)
  }

  @Test("Retry-After is honoured up to a limit")
  func retryAfterBound() {
    var state = Sample.state { $0.retryAfterCap = 50_000 }
    let event = Sample.event(1)
    state.add(event)
    _ = state.posts(now: 0)
    _ = state.refuse(event, now: 0, retryAfter: 3 * 86_400_000, isBusy: true)
    #expect(state.health.retryAt == 50_000 && state.posts(now: 49_999).isEmpty)
    #expect(state.posts(now: 50_000, of: [event]).count == 1)
  }

  @Test("a failing endpoint gets one event at a time after pauses, and all events when it works again")
  func suspect() {
    var state = Sample.state { $0.maxConcurrent = 8 }
    for time in 1...8 { state.add(Sample.event(UInt64(time))) }
    let first = state.posts(now: 0)
    for event in first { _ = state.refuse(event, now: 15_000) }
    #expect(state.isSuspect && state.health.failingSince == 15_000)
    #expect(state.posts(now: 15_001).isEmpty)
    let probes = state.posts(now: 80_000)
    #expect(probes.count == 1)
    state.succeeded(probes[0].position, now: 80_100)
    #expect(!state.isSuspect && state.health.failingSince == nil)
    #expect(state.posts(now: 80_100).count == 7, "what failed meanwhile is due at once")
  }

  @Test("an endpoint that fails for too long is disabled; 410 ends it immediately")
  func endings() {
    var state = Sample.state { $0.disableAfter = 1000 }
    let event = Sample.event(1)
    state.add(event)
    _ = state.posts(now: 0)
    #expect(state.refuse(event, now: 0) == .retried)
    #expect(state.posts(now: 5_000).count == 1)
    #expect(state.refuse(event, now: 5_000) == .ended(.failing))
    #expect(state.posts(now: 500_000).isEmpty && state.room == 0)
    var other = Sample.state()
    other.add(event)
    _ = other.posts(now: 0)
    #expect(other.failed(event.position, error: "status 410", retryAfter: nil, isGone: true, now: 0, random: 0) == .ended(.gone))
  }

  @Test("an event is dropped only if it was refused for the retry period while others were accepted")
  func givenUp() {
    var state = Sample.state { $0.retryFor = 8_000 }
    let poison = Sample.event(1)
    state.add(poison)
    _ = state.posts(now: 0)
    _ = state.refuse(poison, now: 0)
    #expect(state.posts(now: 5_000).count == 1)
    _ = state.refuse(poison, now: 5_000)
    #expect(state.posts(now: 15_000).count == 1)
    #expect(state.refuse(poison, now: 15_000) == .retried, "nothing else was taken: the endpoint is at fault")
    let good = Sample.event(2)
    state.add(good)
    #expect(state.posts(now: 90_000).contains { $0.id == good.id })
    state.succeeded(good.position, now: 90_001)
    _ = state.posts(now: 200_000)
    #expect(state.refuse(poison, now: 200_000) == .givenUp)
    #expect(state.count == 0)
  }

  @Test("events that are due much later are stored without their bytes, which are fetched before posting")
  func unloading() throws {
    var state = Sample.state { $0.retries = RetrySchedule(base: 120_000, cap: 120_000) }
    let event = Sample.event(1)
    state.add(event)
    let room = state.room
    _ = state.posts(now: 0)
    _ = state.refuse(event, now: 0)
    #expect(state.room == room + 1)
    guard case .load(let positions) = state.next(now: 120_000) else { Issue.record("nothing is fetched"); return }
    #expect(positions == [event.position])
    #expect(state.loaded([(event.position, event)]).isEmpty)
    #expect(state.posts(now: 120_000).count == 1)
    _ = state.refuse(event, now: 120_000)
    _ = state.next(now: 240_000)
    #expect(state.loaded([(event.position, nil)]) == [event.position], "it is not kept any more")
    #expect(state.count == 0)
  }

  @Test("events are read when a quarter of the buffer is free, or nothing else is left to post")
  func reading() {
    var state = Sample.state()
    #expect(state.room == 16 && state.isWorthReading)
    for time in 1...16 { state.add(Sample.event(UInt64(time))) }
    #expect(state.room == 0 && !state.isWorthReading)
    let posted = state.posts(now: 0)
    #expect(posted.count == 8)
    // Each accepted event makes room for itself and for one more.
    state.succeeded(posted[0].position, now: 1)
    #expect(state.room == 2 && !state.isWorthReading)
    state.succeeded(posted[1].position, now: 1)
    state.succeeded(posted[2].position, now: 1)
    #expect(state.room == 6 && state.isWorthReading)
    // There is little room, and no known event may be posted yet.
    for isOrdered in [false, true] {
      var full = Sample.state { $0.isOrdered = isOrdered }
      for time in 1...15 { full.add(Sample.event(UInt64(time))) }
      #expect(full.room == 1 && full.isWorthReading == isOrdered)
    }
  }

  @Test("the buffer is small at first and grows with each accepted event")
  func room() {
    var state = Sample.state { $0.window = 20 }
    #expect(state.room == 16)
    for time in 1...16 { state.add(Sample.event(UInt64(time))) }
    #expect(state.room == 0)
    for event in state.posts(now: 0) { state.succeeded(event.position, now: 1) }
    #expect(state.room == 12)
  }

  @Test("a rate limit is observed within a twentieth of a second")
  func rate() {
    var rate = SendRate(perSecond: 100, now: 0)
    var taken = 0
    for now in Int64(0)...1000 { while rate.take(now: now) == nil { taken += 1 } }
    #expect((100...105).contains(taken))
    var none = SendRate(perSecond: nil, now: 0)
    #expect(none.take(now: 0) == nil)
  }

  @Test("waits double with a jitter of half of each step, up to the maximum")
  func schedule() {
    let schedule = RetrySchedule(base: 5_000, cap: 3_600_000)
    #expect((1...4).map { schedule.wait(after: $0, random: 1) } == [5_000, 10_000, 20_000, 40_000])
    #expect(schedule.wait(after: 3, random: 0) == 10_000)
    #expect(schedule.wait(after: 500, random: 1) == 3_600_000)
    let sum = (1...110).reduce(Int64(0)) { $0 + schedule.wait(after: $1, random: 0.5) }
    #expect(sum > 3 * 86_400_000, "some hundred tries last for more than three days")
  }
}

@Suite("Order of subjects")
struct SubjectOrderTests {
  @Test("events of a subject are posted one after the other in the order of publication, from all shards")
  func order() {
    var state = Sample.state { $0.isOrdered = true }
    let events = [Sample.event(30, shard: 1), Sample.event(10, shard: 2), Sample.event(20, shard: 3), Sample.event(15, subject: "other")]
    for event in events { state.add(event) }
    #expect(state.posts(now: 0).isEmpty, "an earlier one may still come")
    state.advance(to: 12)
    #expect(state.posts(now: 0).map(\.id) == ["e10-2"])
    state.advance(to: 25)
    #expect(state.posts(now: 0).map(\.id) == ["e15-0"])
    state.succeeded(events[1].position, now: 1)
    #expect(state.posts(now: 1).map(\.id) == ["e20-3"])
    state.succeeded(events[2].position, now: 2)
    #expect(state.posts(now: 2).isEmpty, "30 is beyond what is known")
    state.advance(to: 100)
    #expect(state.posts(now: 3).map(\.id) == ["e30-1"])
  }

  @Test("an event that waits for a retry delays only its own subject")
  func retry() {
    var state = Sample.state { $0.isOrdered = true }
    let (one, two, other) = (Sample.event(1), Sample.event(2), Sample.event(3, subject: "o"))
    for event in [one, two, other] { state.add(event) }
    state.advance(to: 10)
    #expect(state.posts(now: 0).map(\.id) == [one.id, other.id])
    state.succeeded(other.position, now: 0)
    _ = state.refuse(one, now: 0)
    #expect(state.posts(now: 4_000).isEmpty)
    #expect(state.posts(now: 5_000).map(\.id) == [one.id])
    state.succeeded(one.position, now: 5_000)
    #expect(state.posts(now: 5_000).map(\.id) == [two.id])
  }

  @Test("for any order of reading and any failures, events of each subject are accepted in order", arguments: 0..<20)
  func property(_ seed: Int) {
    var dice = SystemRandomNumberGenerator()
    var state = Sample.state { $0.isOrdered = true }
    let all = (1...200).map { Sample.event(UInt64($0), shard: Int.random(in: 0..<8, using: &dice), subject: "s\($0 % 5)") }
    var unread = Dictionary(grouping: all) { $0.position.shard.index }
    var taken: [String: [EventPosition]] = [:]
    var now: Int64 = 0
    while taken.values.reduce(0, { $0 + $1.count }) < all.count, now < 100_000_000 {
      now += Int64.random(in: 1...5_000, using: &dice)
      if let shard = unread.keys.randomElement(using: &dice) {
        for event in unread[shard]!.prefix(7) { state.add(event) }
        unread[shard]!.removeFirst(min(7, unread[shard]!.count))
        if unread[shard]!.isEmpty { unread.removeValue(forKey: shard) }
      }
      let known = unread.values.compactMap { $0.first?.position.feedPosition.milliseconds }.min() ?? 1_000
      state.advance(to: known - 1)
      for event in state.posts(now: now, of: all).shuffled(using: &dice) {
        if Bool.random(using: &dice) {
          state.succeeded(event.position, now: now)
          let subject = CloudEventParts.subject(event.json)
          taken[subject, default: []].append(event.position)
        } else {
          _ = state.refuse(event, now: now)
        }
      }
    }
    #expect(taken.values.reduce(0) { $0 + $1.count } == all.count)
    for positions in taken.values { #expect(positions == positions.sorted()) }
  }
}
