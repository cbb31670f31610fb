import AttributionProtocol
import AttributionQueue
import Cryptography
import Testing

@testable import ServiceRuntime

@Suite struct RequestIDTests {
  @Test func `A valid request id is used`() {
    #expect(RequestID.usable("a.B_9-") == "a.B_9-")
    for bad in ["", "a b", "ü", String(repeating: "a", count: 129)] { #expect(RequestID.usable(bad) != bad) }
  }
}

@Suite struct QueryMessageTests {
  private func text(_ query: String, limit: Int = 1000, bodyMemory: Int = 1 << 20) throws(RPCError) -> String {
    String(
      decoding: try QueryMessage(query, limit: limit, ratio: 100, reservation: BodyReservation(BodyBudget(limit: bodyMemory))).bytes,
      as: UTF8.self
    )
  }

  @Test func `A message may be plain, in Base64 or compressed`() throws {
    #expect(try text("encoding=json&message=%7B%22a%22:1%7D&other=x") == #"{"a":1}"#)
    #expect(try text("connect=v1&base64=1&message=e30&encoding=json") == "{}")
    #expect(try text("base64=1&message=e30%3D&encoding=json") == "{}")
    let packed = Base64.encodeURL(try #require(Gzip.deflate(Array("{}".utf8))))
    #expect(try text("encoding=json&base64=1&compression=gzip&message=" + packed, bodyMemory: 2) == "{}")
    #expect { _ = try text("encoding=json&base64=1&compression=gzip&message=" + packed, bodyMemory: 1) } throws: {
      ($0 as? RPCError)?.reason == "OVERLOADED"
    }
    #expect { _ = try text("encoding=json&base64=1&compression=gzip&message=" + packed, limit: 1) } throws: {
      ($0 as? RPCError)?.code == .resourceExhausted && ($0 as? RPCError)?.reason == "REQUEST_TOO_LARGE"
    }
  }

  @Test(arguments: [
    "", "encoding=json", "message=%7B%7D", "encoding=proto&message=%7B%7D", "encoding=json&message=",
    "encoding=json&message=%7", "encoding=json&message=%ff", "encoding=json&message=e&base64=1",
    "encoding=json&message=%7B%7D&connect=v2", "encoding=json&message=e30&base64=1&compression=gzip",
  ])
  func `An unreadable query is an invalid argument`(_ query: String) {
    #expect { _ = try text(query) } throws: { ($0 as? RPCError)?.code == .invalidArgument }
  }
}

@Suite struct GzipTests {
  private let budget = BodyBudget(limit: 1 << 20)

  @Test func `Exactly the limit is inflated, and one byte more is not`() throws {
    let bytes = [UInt8](repeating: 7, count: 5000)
    let packed = try #require(Gzip.deflate(bytes))
    let reservation = BodyReservation(budget)
    #expect(try Gzip.inflate(packed, limit: 5000, on: reservation) == bytes)
    #expect(throws: Gzip.Failure.tooLarge) { _ = try Gzip.inflate(packed, limit: 4999, on: reservation) }
    for broken in [Array(packed.dropLast()), Array(packed.dropLast(8)), packed + [0], Array(packed.dropFirst()), [1, 2, 3], []] {
      #expect(throws: Gzip.Failure.malformed) { _ = try Gzip.inflate(broken, limit: 5000, on: reservation) }
    }
    // Failed inflations are not counted.
    #expect(budget.bytes == 5000)
  }

  @Test(arguments: [0, 1, 5000]) func `The counted bytes are exactly the inflated bytes`(count: Int) throws {
    let packed = try #require(Gzip.deflate([UInt8](repeating: 7, count: count)))
    for _ in 0..<2 {
      let reservation = BodyReservation(budget)
      #expect(try Gzip.inflate(packed, limit: 1 << 20, on: reservation).count == count)
      #expect(budget.bytes == count)
    }
    #expect(budget.bytes == 0)
  }

  @Test func `All bodies together may reach the limit, and one byte more is refused`() throws {
    let packed = try #require(Gzip.deflate([UInt8](repeating: 7, count: 5000)))
    let budget = BodyBudget(limit: 10_000)
    let reservations = (0..<3).map { _ in BodyReservation(budget) }
    for reservation in reservations.prefix(2) { #expect(try Gzip.inflate(packed, limit: 5000, on: reservation).count == 5000) }
    #expect(throws: Gzip.Failure.noRoom) { _ = try Gzip.inflate(packed, limit: 5000, on: reservations[2]) }
    #expect(budget.bytes == 10_000)
    reservations[0].release(4999)
    #expect(throws: Gzip.Failure.noRoom) { _ = try Gzip.inflate(packed, limit: 5000, on: reservations[2]) }
    reservations[0].release(1)
    #expect(try Gzip.inflate(packed, limit: 5000, on: reservations[2]).count == 5000)
  }

  @Test(arguments: [0, 1, 4999, 5001, Int(UInt32.max)]) func `A stream with a wrong length is refused`(said: Int) throws {
    var packed = try #require(Gzip.deflate([UInt8](repeating: 7, count: 5000)))
    packed.replaceSubrange(packed.count - 4..<packed.count, with: (0..<4).map { UInt8(truncatingIfNeeded: said >> (8 * $0)) })
    #expect(throws: Gzip.Failure.malformed) { _ = try Gzip.inflate(packed, limit: 6000, on: BodyReservation(budget)) }
    #expect(budget.bytes == 0)
  }
}

@Suite struct CallerDirectoryTests {
  @Test func `A caller is identified by any of its tokens and may call what it is allowed`() {
    let client = DeploymentConfiguration.Client(
      name: "etl", tokenDigests: [SHA256Digest.hash("new"), SHA256Digest.hash("old")],
      allow: ["a.v1.A/Get", "b.v1.B/*"])
    let directory = CallerDirectory(clients: [client], serviceToken: "inner", open: false)
    for header in ["Bearer new", "bearer old"] {
      let caller = directory.caller(authorization: header)
      #expect(caller?.name == "etl")
      #expect(caller?.may("a.v1.A/Get") == true)
      #expect(caller?.may("a.v1.A/GetMore") == false)
      #expect(caller?.may("b.v1.B/Any") == true)
      #expect(caller?.may("c.v1.C/Any") == false)
    }
    #expect(directory.caller(authorization: "Bearer inner")?.may("c.v1.C/Any") == true)
    for header in [nil, "", "Bearer", "Bearer ", "Bearer newer", "Basic new", "new"] {
      #expect(directory.caller(authorization: header) == nil)
    }
    #expect(CallerDirectory(clients: [], serviceToken: nil, open: false).isEmpty)
    #expect(CallerDirectory(clients: [], serviceToken: nil, open: true).caller(authorization: nil)?.may("x/Y") == true)
  }
}

@Suite struct CertificateCallerTests {
  private let directory = CallerDirectory(
    clients: [
      DeploymentConfiguration.Client(
        name: "etl", tokenDigests: [SHA256Digest.hash("token")], certificateNames: ["spiffe://a/etl", "spiffe://a/etl2"], allow: ["*"]),
      DeploymentConfiguration.Client(
        name: "ads", tokenDigests: [SHA256Digest.hash("other")], certificateNames: ["spiffe://a/ads"], allow: ["*"]),
    ], serviceToken: nil, open: false)

  @Test func `A caller is identified by any name of its certificate`() {
    #expect(directory.caller(authorization: nil, certificateNames: ["spiffe://a/etl2"])?.name == "etl")
    #expect(directory.caller(authorization: nil, certificateNames: ["spiffe://x", "spiffe://a/ads"])?.name == "ads")
  }

  @Test func `A request that names two callers or an unknown one has no caller`() {
    #expect(directory.caller(authorization: nil, certificateNames: ["spiffe://a/etl", "spiffe://a/ads"]) == nil)
    #expect(directory.caller(authorization: nil, certificateNames: ["spiffe://a/ETL"]) == nil)
  }

  @Test func `A token with a certificate must name the same caller`() {
    #expect(directory.caller(authorization: "Bearer token", certificateNames: ["spiffe://a/etl"])?.name == "etl")
    for token in ["Bearer other", "Bearer wrong", ""] {
      #expect(directory.caller(authorization: token, certificateNames: ["spiffe://a/etl"]) == nil)
    }
    #expect(directory.caller(authorization: "Bearer token", certificateNames: ["spiffe://a/unknown"]) == nil)
  }
}

@Suite struct EdgeSettingsTests {
  private func configuration(_ yaml: String) throws -> DeploymentConfiguration {
    try DeploymentConfiguration(yaml: yaml, file: "file", folder: ".")
  }

  @Test func `The section edge is parsed`() throws {
    let edge = try configuration(
      """
      edge:
        trustedProxies: [10.0.0.0/8, "::1"]
        forwardedHeader: forwarded
        allow: { notification: [apple], postback: 0.0.0.0/0 }
        peerRate: { perSecond: 2.5 }
        appStoreRate: { perSecond: 1000, burst: 5000 }
        peers: 512
      """
    ).edge
    #expect(edge.proxies.ranges.map(\.description) == ["10.0.0.0/8", "::1"])
    #expect(edge.proxies.header == .forwarded)
    #expect(edge.allowed["notification"]?.map(\.description) == ["17.0.0.0/8"])
    #expect(edge.peerRate == RequestRate(perSecond: 2.5, burst: 3))
    #expect(edge.appStoreRate == RequestRate(perSecond: 1000, burst: 5000))
    #expect(edge.peers == 512)
  }

  @Test(arguments: ["1s": Duration.seconds(1), "6h": .seconds(21_600), "3660d": .seconds(3660 * 86_400)])
  func `The lifetime of keys of copies is accepted up to its limits`(_ text: String, _ time: Duration) throws {
    let queue = try configuration("queues: { copyGeneration: \(text), unsignedDigests: true }").queue
    #expect(queue.copyGeneration == time && queue.unsignedDigests)
    let usual = try configuration("queues: {}").queue
    #expect(usual.copyGeneration == .seconds(21_600) && !usual.unsignedDigests)
  }

  @Test func `A queue can have waits of its own; what is left out is as for all queues`() throws {
    let read = try configuration(
      "queues: { backoffBase: 2s, backoffCap: 5m, backoff: { sessions: { base: 1ms, cap: 24h }, gaps: { cap: 1m } } }")
    #expect(read.queue.backoff(of: .sessions) == Backoff(base: .milliseconds(1), cap: .seconds(86_400)))
    #expect(read.queue.backoff(of: .gaps) == Backoff(base: .seconds(2), cap: .seconds(60)))
    #expect(read.queue.backoff(of: .intake) == Backoff(base: .seconds(2), cap: .seconds(300)))
    #expect(read.unknownKeys.isEmpty)
    #expect(try configuration("queues: { backoff: { gaps: { most: 1m } } }").unknownKeys.map(\.path) == ["queues.backoff.gaps.most"])
  }

  @Test func `A strategy is a list of domains or has further settings`() throws {
    let read = try configuration(
      "consentRouting: { maximumWait: 90s, strategies: { a: [x.example, y.example], b: { domains: z.example, dataResidency: true } } }")
    #expect(read.consentStrategies["a"] == .init(domains: ["x.example", "y.example"], isDataResidency: nil))
    #expect(read.consentStrategies["b"] == .init(domains: ["z.example"], isDataResidency: true))
    #expect(read.consentMaxWait == .seconds(90))
    #expect(read.consentPatience == .seconds(259_200))
    #expect(try configuration("consentRouting: { patience: 1s }").consentPatience == .seconds(1))
    #expect(try configuration("consentRouting: { patience: 30d }").consentPatience == .seconds(2_592_000))
    #expect(read.unknownKeys.isEmpty)
  }

  @Test(arguments: [
    ("consentRouting: { maximumWait: 361s }", "consentRouting.maximumWait"),
    ("consentRouting: { patience: 999ms }", "consentRouting.patience"), ("consentRouting: { patience: 721h }", "consentRouting.patience"),
    ("consentRouting: { strategies: { a: { dataResidency: true } } }", "consentRouting.strategies.a.domains"),
    ("edge: { trustedProxies: [10.0.0.0/8, 10.0.0.1/8] }", "edge.trustedProxies[1]"),
    ("edge: { trustedProxies: proxy.example }", "edge.trustedProxies[0]"),
    ("edge: { allow: { notification: [17.0.0.0/40] } }", "edge.allow.notification[0]"),
    ("edge: { allow: { notifications: [apple] } }", "edge.allow.notifications"), ("edge: { allow: { token: [] } }", "edge.allow.token"),
    ("edge: { forwardedHeader: X-Real-IP }", "edge.forwardedHeader"), ("edge: { peerRate: { burst: 3 } }", "edge.peerRate.perSecond"),
    ("edge: { peerRate: { perSecond: 0 } }", "edge.peerRate.perSecond"),
    ("edge: { peerRate: { perSecond: 1, burst: 0 } }", "edge.peerRate.burst"),
    ("edge: { peers: 511 }", "edge.peers"), ("queues: { durability: none }", "queues.durability"),
    ("queues: { replicas: 0 }", "queues.replicas"), ("queues: { deliveryRecordTTL: 999ms }", "queues.deliveryRecordTTL"),
    ("queues: { clockDifference: -1s }", "queues.clockDifference"), ("queues: { clockDifference: 3661d }", "queues.clockDifference"),
    ("queues: { copyGeneration: 999ms }", "queues.copyGeneration"), ("queues: { copyGeneration: 3661d }", "queues.copyGeneration"),
    ("queues: { unsignedDigests: 1 }", "queues.unsignedDigests"),
    ("queues: { backoff: { postbacks: { cap: 1s } } }", "queues.backoff.postbacks"),
    ("queues: { backoff: { tokens: { cap: 1s } } }", "queues.backoff.tokens"),
    ("queues: { backoff: { sessions: 1s } }", "queues.backoff.sessions"),
    ("queues: { backoff: { sessions: { base: 0ms } } }", "queues.backoff.sessions.base"),
    ("queues: { backoff: { sessions: { cap: 25h } } }", "queues.backoff.sessions.cap"),
    ("queues: { deliveryGeneration: 59s }", "queues.deliveryGeneration"), ("queues: { lease: 0s }", "queues.lease"),
    ("queues: { rpcAnswerTTL: 0s }", "queues.rpcAnswerTTL"), ("queues: { eventRetention: 3661d }", "queues.eventRetention"),
    ("queues: { subscriptionBacklog: 0 }", "queues.subscriptionBacklog"),
    ("queues: { subscriptionBacklog: 1099511627777 }", "queues.subscriptionBacklog"),
    ("queues: { backlogBound: 0 }", "queues.backlogBound"), ("queues: { seenBuckets: 0 }", "queues.seenBuckets"),
    ("queues: { rejectedBytes: -1 }", "queues.rejectedBytes"), ("queues: { maxAttempts: 0 }", "queues.maxAttempts"),
    ("queues: { deadLetterBytes: 0 }", "queues.deadLetterBytes"), ("clients: [{ name: a, allow: [] }]", "clients[0].tokenSHA256"),
    ("clients: [{ name: a, certificateName: a, allow: [] }]", "clients[0].certificateName"),
    ("clients: [{ name: a, certificateName: \"a:b\", allow: [], rate: { perSecond: -1 } }]", "clients[0].rate.perSecond"),
  ])
  func `An invalid value is reported with its position`(yaml: String, place: String) {
    let error = #expect(throws: ConfigurationError.self) { try configuration(yaml) }
    #expect(error?.place == place)
  }
}

@Suite struct DeploymentConfigurationTests {
  private func place(_ yaml: String) -> String? {
    do throws(ConfigurationError) {
      _ = try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: "/etc")
      return nil
    } catch { return error.place }
  }

  @Test(arguments: [
    ("", "f.yaml"), ("- a", "f.yaml"), ("a: [", "f.yaml"), ("apps: 3", "apps"), ("apps:\n- environments: [Sandbox]", "apps[0].bundleId"),
    ("apps:\n- environments: [Sandbox]\n  bundleId: 5", "apps[0].bundleId"),
    ("appStore:\n  strictCertificates: maybe", "appStore.strictCertificates"),
    ("apps:\n- bundleId: a", "apps[0].appAppleId"), ("clients:\n- allow: []", "clients[0].tokenSHA256"),
  ])
  func `An error has a position`(_ yaml: String, _ expected: String) { #expect(place(yaml) == expected) }

  @Test func `Unknown keys are reported`() throws {
    let configuration = try DeploymentConfiguration(
      yaml: "limit: {}\nappStore:\n  strict: true", file: "f.yaml", folder: "/etc")
    #expect(Set(configuration.unknownKeys.map(\.path)) == ["limit", "appStore.strict"])
  }
}
