import NIOHTTP1
import Testing

@testable import ServiceRuntime

@Suite struct PublicEdgeGuardTests {
  private let proxy = "10.0.0.1"

  /// Only the proxies' own addresses and Apple's may use the route `notification`, and everybody may use the others.
  private func edge() throws -> PublicEdgeGuard {
    var edge = EdgeSettings()
    edge.proxies.ranges = [try AddressRange(validating: "10.0.0.0/8")]
    edge.allowed = ["notification": [try AddressRange(validating: "10.0.0.0/8"), try AddressRange(validating: "17.0.0.0/8")]]
    return PublicEdgeGuard(edge, MetricsRegistry())
  }

  private func refusal(_ kind: String, hasUnknownAddress: Bool = false, _ fields: [(String, String)] = []) throws -> String? {
    let edge = try edge()
    var peer = ConnectionPeer(address: try IPAddress(validating: proxy))
    peer.hasUnknownAddress = hasUnknownAddress
    let request = IncomingRequest(method: "POST", target: "/", headers: HTTPHeaders(fields), peer: peer, isHTTP2: false)
    return edge.decide(edge.client(of: request), kind: kind).refusal?.reason
  }

  @Test func `A client whose address the proxy does not know is on no allow list, even if the proxy is`() throws {
    let reasons = [
      try refusal("notification", hasUnknownAddress: true),
      try refusal("notification", hasUnknownAddress: true, [("x-forwarded-for", "17.1.2.3")]),
      try refusal("postback", hasUnknownAddress: true),
    ]
    #expect(reasons == ["ADDRESS_NOT_ALLOWED", "ADDRESS_NOT_ALLOWED", nil])
  }

  @Test func `A proxy's request without a client's address counts as the proxy's own, and another one as the client's`() throws {
    let reasons = [
      try refusal("notification"), try refusal("notification", [("x-forwarded-for", "17.1.2.3")]),
      try refusal("notification", [("x-forwarded-for", "192.0.2.1")]),
      // The proxy appends its client's address to whatever the client has written, and names one that it does not know.
      try refusal("notification", [("x-forwarded-for", "\"x, 192.0.2.1")]), try refusal("notification", [("x-forwarded-for", "unknown")]),
    ]
    #expect(reasons == [nil, nil, "ADDRESS_NOT_ALLOWED", "ADDRESS_NOT_ALLOWED", "ADDRESS_NOT_ALLOWED"])
  }

  @Test func `The App Store's requests do not count for the rate of a peer, and have a rate of their own`() throws {
    var settings = EdgeSettings()
    settings.peerRate = RequestRate(perSecond: 0.001, burst: 2)
    let apple = TrustedProxies.Client(address: try IPAddress(validating: "17.1.2.3"))
    let stranger = TrustedProxies.Client(address: try IPAddress(validating: "192.0.2.1"))
    func refused(_ edge: PublicEdgeGuard, _ client: TrustedProxies.Client, _ kind: String, _ count: Int) -> [Bool] {
      (0..<count).map { _ in edge.decide(client, kind: kind, now: 0).refusal != nil }
    }
    let unlimited = PublicEdgeGuard(settings, MetricsRegistry())
    #expect(refused(unlimited, apple, "notification", 5) == [false, false, false, false, false])
    #expect(refused(unlimited, apple, "retention", 5) == [false, false, false, false, false])
    #expect(unlimited.decide(apple, kind: "notification", now: 0).rateLimitStatus == nil)
    // Apple's addresses on other routes, and others on the App Store's, have the rate of a peer.
    #expect(refused(unlimited, apple, "postback", 3) == [false, false, true])
    #expect(refused(unlimited, stranger, "notification", 3) == [false, false, true])
    settings.appStoreRate = RequestRate(perSecond: 0.001, burst: 3)
    let limited = PublicEdgeGuard(settings, MetricsRegistry())
    #expect(refused(limited, apple, "notification", 4) == [false, false, false, true])
    #expect(refused(limited, apple, "postback", 3) == [false, false, true])
    settings.peerRate = nil
    let alone = PublicEdgeGuard(settings, MetricsRegistry())
    #expect(refused(alone, apple, "notification", 4) == [false, false, false, true])
    #expect(refused(alone, stranger, "notification", 4) == [false, false, false, false])
  }

  @Test func `Without an address no client is on an allow list`() throws {
    let edge = try edge()
    let client = TrustedProxies.Client(address: nil)
    #expect(edge.decide(client, kind: "notification").refusal?.reason == "ADDRESS_NOT_ALLOWED")
    #expect(edge.decide(client, kind: "postback").refusal == nil)
  }
}
