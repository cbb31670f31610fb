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
    return edge.decide(edge.client(of: request), hasUnknownAddress: hasUnknownAddress, kind: kind).refusal?.reason
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
    ]
    #expect(reasons == [nil, nil, "ADDRESS_NOT_ALLOWED"])
  }

  @Test func `Without an address no client is on an allow list`() throws {
    let edge = try edge()
    #expect(
      edge.decide(nil, kind: "notification").refusal?.reason == "ADDRESS_NOT_ALLOWED" && edge.decide(nil, kind: "postback").refusal == nil)
  }
}
