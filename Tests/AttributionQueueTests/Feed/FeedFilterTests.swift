import Testing

@testable import AttributionQueue

@Suite struct FeedFilterTests {
  private static let postback = EventAttributes(adNetworkId: "a.skadnetwork", appAppleId: 525_463_029, environment: "production")
  private static let notification = EventAttributes(appAppleId: 525_463_029, bundleId: "com.example.app", environment: "Sandbox")
  private static let session = EventAttributes(bundleId: "com.example.other")
  private static let events = [
    TestEvent(id: "postback", type: "t.p", attributes: postback), TestEvent(id: "notification", type: "t.n", attributes: notification),
    TestEvent(id: "session", type: "t.s", attributes: session), TestEvent(id: "nothing", type: "t.x"),
  ]
  private static let names = AppNames([("com.example.app", 525_463_029), ("com.example.none", nil)])

  @Test(arguments: [
    ([], FeedFilter(), ["postback", "notification", "session", "nothing"]),
    (["t.p", "t.x"], FeedFilter(), ["postback", "nothing"]),
    ([], FeedFilter(adNetworkIds: ["a.skadnetwork", "b.skadnetwork"]), ["postback"]),
    ([], FeedFilter(adNetworkIds: ["b.skadnetwork"]), []),
    ([], FeedFilter(adNetworkIds: ["A.SKAdNetwork"]), ["postback"]),
    // Each name of the app matches events that have the other name.
    ([], FeedFilter(apps: ["525463029"]), ["postback", "notification"]),
    ([], FeedFilter(apps: ["com.example.app"]), ["postback", "notification"]),
    ([], FeedFilter(apps: ["com.example.other", "1"]), ["session"]),
    ([], FeedFilter(environments: ["sandbox"]), ["notification"]),
    ([], FeedFilter(apps: ["525463029"], environments: ["production", "development"]), ["postback"]),
    (["t.n"], FeedFilter(apps: ["525463029"], environments: ["production"]), []),
    // An empty attribute is no value, so no filter matches it.
    ([], FeedFilter(apps: [""]), []),
  ])
  func `A subscription has the events that match every list that is not empty`(
    _ types: [String], _ filter: FeedFilter, _ expected: [String]
  ) async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, names: Self.names)
      _ = try await feed.create(EventSubscription(name: "s", types: types, filter: filter))
      try await queue.write(Self.events)
      #expect(try await feed.ids("s") == expected)
      #expect(try await feed.backlog("s") == Int64(expected.count))
      for event in Self.events {
        let wants = filter.wants(event.attributes ?? EventAttributes(), type: event.type, types: types, names: Self.names)
        #expect(wants == expected.contains(event.id), "\(event.id): Swift's rule and the script's differ")
      }
    }
  }

  @Test func `Events of older builds, which have their attributes only in their JSON, are filtered by it`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue, names: Self.names)
      _ = try await feed.create(EventSubscription(name: "network", filter: FeedFilter(adNetworkIds: ["a.skadnetwork"])))
      _ = try await feed.create(
        EventSubscription(name: "app", filter: FeedFilter(apps: ["com.example.app"], environments: ["production", "sandbox"])))
      let skadnetwork = "attribution.skadnetwork.postback.verified.v1"
      let kit = "attribution.adattributionkit.postback.verified.v1"
      let events = [
        TestEvent(
          id: "s", type: skadnetwork, attributes: nil,
          json: #"{"id":"s","subject":"A.skadnetwork","data":{"environment":"production","postback":{"app-id":525463029}}}"#),
        TestEvent(
          id: "k", type: kit, attributes: nil,
          json:
            #"{"id":"k","subject":"a.skadnetwork","data":{"environment":"development","postback":{"payload":{"advertised-item-identifier":525463029}}}}"#
        ),
        TestEvent(
          id: "n", type: "appstore.notification.verified.v1", attributes: nil,
          json:
            #"{"id":"n","subject":"com.example.app","data":{"environment":"Sandbox","payload":{"data":{"appAppleId":525463029}}}}"#),
        TestEvent(id: "broken", type: skadnetwork, attributes: nil, json: "{"),
        TestEvent(id: "odd", type: skadnetwork, attributes: nil, json: #"{"id":"odd","subject":null,"data":[1]}"#),
      ]
      try await queue.write(events)
      #expect(try await feed.ids("network") == ["s", "k"])
      #expect(try await feed.ids("app") == ["s", "n"])
      // Swift filters by the same rule.
      for name in ["network", "app"] {
        let filter = try #require(try await feed.subscription(name)).filter
        let wanted = events.filter {
          filter.wants(
            EventAttributes(describing: Array(($0.json ?? "").utf8), type: $0.type), type: $0.type, types: [], names: Self.names)
        }
        #expect(wanted.map(\.id) == (name == "app" ? ["s", "n"] : ["s", "k"]))
      }
    }
  }

  @Test func `Unwanted events are skipped without a lease, and events beyond the requested number come next`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.create(EventSubscription(name: "s", types: ["t.b"]))
      try await queue.write((0..<1400).map { TestEvent(id: "n\($0)", type: $0 % 100 == 99 ? "t.b" : "t.a") })
      try await queue.write((0..<20).map { TestEvent(id: "m\($0)", type: "t.b") })
      var ids: [String] = []
      while true {
        let events = try await feed.take("s", limit: 3)
        #expect(events.count <= 3)
        if events.isEmpty { break }
        ids += events.map(\.id)
      }
      #expect(ids == (0..<14).map { "n\($0 * 100 + 99)" } + (0..<20).map { "m\($0)" })
      #expect(try await feed.backlog("s") == 34)
    }
  }

  @Test func `A filter in another order is the same subscription, and another filter is not`() async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      let filter = FeedFilter(adNetworkIds: ["b", "a", "a"], environments: ["Production"])
      let made = try await feed.create(EventSubscription(name: "s", filter: filter, isOrdered: true))
      let again = EventSubscription(
        name: "s", filter: FeedFilter(adNetworkIds: ["a", "b"], environments: ["production"]), isOrdered: true)
      #expect(try await feed.create(again) == made)
      #expect(try await feed.subscription("s") == made)
      for other in [
        EventSubscription(name: "s", filter: filter), EventSubscription(name: "s", isOrdered: true),
        EventSubscription(name: "s", filter: filter, start: .now, isOrdered: true),
        EventSubscription(name: "s", filter: filter, isOrdered: true, push: [:]),
      ] {
        await #expect(throws: EventFeedError.differs) { _ = try await feed.create(other) }
      }
    }
  }
}
