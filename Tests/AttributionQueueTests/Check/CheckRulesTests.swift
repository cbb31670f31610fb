import Testing

@testable import AttributionQueue

/// The rules of the check, applied to given data without Redis.
@Suite struct CheckRulesTests {
  @Test func `Every key name of Keys is recognised, with the id of a record and of a line`() throws {
    let id = try #require(DeliveryID("017-" + String(repeating: "a", count: 32)))
    #expect(KeyKind(Keys.delivery(id)) == .record(id))
    #expect(KeyKind(Keys.line(.gaps, Shard(3), "ab:c")) == .line(.gaps, Shard(3), "ab:c"))
    let shard = Shard(42)
    let known =
      QueueName.allCases.flatMap { queue in
        [
          Keys.ready(queue, shard), Keys.delayed(queue, shard), Keys.payloads(queue, shard), Keys.dead(queue, shard),
          Keys.ownership(queue, shard), Keys.suspects(queue, shard), Keys.byDeadline(queue, shard), Keys.workers(queue),
          Keys.paused(queue), Keys.schedule(queue), Keys.wakes(queue),
        ]
      } + [
        Keys.seen(.delivery, generation: 3, bucket: 9, shard), Keys.seen(.notification, generation: 3, bucket: 9, shard),
        Keys.events(shard), Keys.eventsIndex(shard), Keys.eventPositions(shard), Keys.droppedEvents(shard), Keys.unsettledEvents(shard),
        Keys.originals(shard), Keys.eventsListed, Keys.pushers, Keys.endpointOwners, Keys.endpointHealth,
        Keys.rejectedBodies(shard), Keys.rejectedIndex(shard), Keys.rejectedSizes(shard), Keys.formerRejected(shard),
        Keys.subscriptions, Keys.firstGeneration, Keys.form, Keys.digestKey, Keys.confirmation(shard),
        Keys.counts(.hour, 7, holdsValues: true), Keys.counts(.hour, 7, holdsValues: false), Keys.queueHistory(7),
        Keys.rpc(shard, digest: "0f"), Keys.own("verifier", "subscription:a:b", shardOf: "b"), Keys.own("ingest", "x", shard),
        Keys.own("commerce", "notifications:a:b", shardOf: "b"),
      ]
    for key in known { #expect(KeyKind(key) == .other, "\(key)") }
    for name in [
      "", "x", "r:", "r:abc", "q:other", "q:intake:other", "q:intake:workers", "seen:x:1:2", "seen:d:1", "rpc:", "verifier:",
      "digest-key", "nobody:x",
    ] {
      #expect(KeyKind("{attr:042}:" + name) == .unknown(shard), "\(name)")
    }
    #expect(KeyKind("{attr:042}") == .unknown(shard))
    for key in ["", "x", "{attr:256}:events", "{attr:1}:events"] { #expect(KeyKind(key) == .foreign, "\(key)") }
  }

  @Test func `A payload is read in the form in which Redis encodes it`() {
    var bytes: [UInt8] = [0x97, 0xA4] + Array("kind".utf8) + [0xDA, 0x01, 0x00] + Array(repeating: 7, count: 256)
    bytes += [0xD9, 0x02] + Array("{}".utf8) + [0xCD, 0x01, 0x00, 0xA5] + Array("1 no\n".utf8) + [0xA2] + Array("ab".utf8) + [0xC0]
    let payload = PackedPayload(bytes)
    #expect(payload?.kind == "kind" && payload?.body.count == 256 && payload?.envelope == Array("{}".utf8))
    #expect(payload?.history == "1 no\n" && payload?.line == "ab")
    // False instead of an order line, and a deadline after it.
    let other = PackedPayload([0x97, 0xA1, 0x61, 0xA0, 0xA0, 0x00, 0xA0, 0xC2, 0xA1, 0x35])
    #expect(other != nil && other?.line == nil)
    for count in 0..<bytes.count - 1 { #expect(PackedPayload(Array(bytes[..<count])) == nil, "\(count)") }
    for other: [UInt8] in [[0x95, 0x01, 0xA0, 0xA0, 0x00, 0xA0], [0x94, 0xA0, 0xA0, 0xA0, 0x00], [0x80], [0xDB, 0xFF, 0xFF, 0xFF, 0xFF]] {
      #expect(PackedPayload(other) == nil)
    }
  }

  @Test func `A message in the stream that names an order line without being in it is no fault`() {
    var view = QueueView(.intake, Shard(1))
    view.ready["a"] = QueueView.Message(entry: "1-1", line: "x", recordedAt: 1)
    view.entries = ["1-1"]
    // Delayed before its turn in the order line.
    view.delayed = ["b": 5]
    view.payloads = ["b": QueueView.Message(line: "x", recordedAt: 1)]
    view.lines = ["x": ["c"]]
    view.delayed["c"] = .infinity
    view.payloads["c"] = QueueView.Message(line: "x", recordedAt: 1)
    let suspects = MessageRule.all.flatMap { $0.suspects(view) }
    #expect(suspects.map(\.rule) == [.waitsAsFirst] && suspects[0].id == "c" && suspects[0].line == "x")
  }

  @Test func `A suspect that is consistent in one atomic step is no fault`() {
    var delayed = MessageFacts()
    delayed.delayed = 5
    delayed.hasPayload = true
    delayed.record = .accepted
    delayed.hasRecord = true
    var moved = MessageFacts()
    moved.wasAddedToReady = true
    moved.record = .accepted
    moved.hasRecord = true
    var turn = delayed
    turn.delayed = .infinity
    turn.lineIndex = 3
    var done = MessageFacts()
    done.record = .verified
    done.hasRecord = true
    for rule in MessageRule.all where rule.rule != .unreadablePayload {
      for facts in [delayed, moved, turn, done] { #expect(!rule.isBroken(facts), "\(rule.rule)") }
    }
    var first = turn
    first.lineIndex = 0
    #expect(MessageRule.waitsAsFirst.isBroken(first))
  }

  @Test func `An event is at its indexed position, stored twice, or missing`() {
    #expect(EventFacts(indexedEntry: "1-1", idInEntry: "a", idInIndexedEntry: "a").brokenRule(id: "a", entry: "1-1") == nil)
    #expect(EventFacts(indexedEntry: "2-1", idInEntry: "a", idInIndexedEntry: "a").brokenRule(id: "a", entry: "1-1") == .eventTwice)
    #expect(EventFacts(indexedEntry: "2-1", idInEntry: "a", idInIndexedEntry: "b").brokenRule(id: "a", entry: "1-1") == .eventWithoutIndex)
    #expect(EventFacts(indexedEntry: "", idInEntry: "a", idInIndexedEntry: "").brokenRule(id: "a", entry: "1-1") == .eventWithoutIndex)
    #expect(EventFacts(indexedEntry: "1-1", idInEntry: "", idInIndexedEntry: "").brokenRule(id: "a", entry: "1-1") == .indexWithoutEvent)
    // Both were deleted meanwhile, or only the event was and its index entry belongs to another event.
    #expect(EventFacts(indexedEntry: "", idInEntry: "", idInIndexedEntry: "").brokenRule(id: "a", entry: "1-1") == nil)
    #expect(EventFacts(indexedEntry: "2-1", idInEntry: "", idInIndexedEntry: "a").brokenRule(id: "a", entry: "1-1") == nil)
  }

  @Test func `A schedule entry that is absent or too late is missing`() {
    for (due, noted, isMissing) in [
      (100_000, [], true), (100_000, [100_000], false), (100_000, [109_000], false), (100_000, [111_000], true),
      (100_000, [500_000, 90_000], false), (1, [59_000], false), (1, [61_000], true),
    ] as [(Double, [Double], Bool)] {
      #expect(ScheduleCheck.isMissing(due: due, scheduled: noted, now: 50_000) == isMissing, "\(due) \(noted)")
    }
  }

  @Test func `A record is dated by the newest time in the message, and missed until it expires`() {
    #expect(QueueReader.recordedAt(5, history: "") == 5)
    #expect(QueueReader.recordedAt(5, history: "7 no\n9 again\n") == 9)
    #expect(QueueReader.recordedAt(5, history: "x\n") == 5)
    #expect(QueueReader.mustHaveRecord(0, .seconds(100), now: 39_999))
    #expect(!QueueReader.mustHaveRecord(0, .seconds(100), now: 40_000))
  }
}
