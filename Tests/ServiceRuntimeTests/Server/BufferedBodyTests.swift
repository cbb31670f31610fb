import NIOCore
import Testing

@testable import ServiceRuntime

@Suite struct BufferedBodyTests {
  @Test func `Bodies of all connections share one limit, and released bytes can be used again`() {
    let budget = BodyBudget(limit: 10)
    var first: BufferedBody? = BufferedBody(budget)
    var second = BufferedBody(budget)
    #expect(first?.add(ByteBuffer(string: "123456"), limit: 6) == nil)
    #expect(first?.add(ByteBuffer(string: "7"), limit: 6) == .tooLarge)
    #expect(second.add(ByteBuffer(string: "1234"), limit: 100) == nil)
    #expect(second.add(ByteBuffer(string: "5"), limit: 100) == .noRoom)
    #expect(budget.bytes == 10)
    first = nil
    #expect(budget.bytes == 4)
    #expect(second.add(ByteBuffer(string: "56"), limit: 100) == nil)
    #expect(second.take() == Array("123456".utf8))
  }

  @Test func `A body that is being processed counts until its reservation is released`() {
    let budget = BodyBudget(limit: 10)
    var body: BufferedBody? = BufferedBody(budget)
    var reservation = body?.reservation
    #expect(body?.add(ByteBuffer(string: "123456"), limit: 10) == nil)
    #expect(body?.take() == Array("123456".utf8) && body?.take() == [])
    body = nil
    #expect(budget.bytes == 6 && reservation?.reserve(4) == true && reservation?.reserve(1) == false)
    reservation?.release(2)
    #expect(budget.bytes == 8)
    reservation = nil
    #expect(budget.bytes == 0)
  }

  @Test func `Refused bodies are counted`() {
    let registry = MetricsRegistry()
    registry.counter("attribution_http_rejected_total", help: "", labels: ["cause"])
    func count(_ cause: String) -> Double? { registry.series("attribution_http_rejected_total", [cause])?.current.value }
    let budget = BodyBudget(limit: 10, registry: registry)
    var body = BufferedBody(budget)
    #expect(body.add(ByteBuffer(string: "12345678901"), limit: 10) == .tooLarge && body.reservation.reserve(10))
    #expect(count("body_memory") == 0)
    #expect(!body.reservation.reserve(1) && count("body_memory") == 1 && count("peer_body_memory") == 0)
  }

  @Test func `A peer's bodies share its limit, and others can use the rest`() throws {
    let (first, second) = (try IPAddress(validating: "192.0.2.1"), try IPAddress(validating: "192.0.2.2"))
    let registry = MetricsRegistry()
    registry.counter("attribution_http_rejected_total", help: "", labels: ["cause"])
    func count(_ cause: String) -> Double? { registry.series("attribution_http_rejected_total", [cause])?.current.value }
    let peers = PeerQuota(limit: 6)
    let budget = BodyBudget(limit: 10, peers: peers, registry: registry)
    var shares = [BodyReservation(budget, peer: first), BodyReservation(budget, peer: first), BodyReservation(budget, peer: second)]
    #expect(shares[0].reserve(4) && !shares[1].reserve(3) && shares[1].reserve(2) && count("peer_body_memory") == 1)
    #expect(budget.bytes == 6 && !shares[2].reserve(5) && count("body_memory") == 1 && shares[2].reserve(4))
    // Without a known address, only the common limit applies.
    let nobody = BodyReservation(budget)
    #expect(!nobody.reserve(1))
    shares.removeFirst()
    #expect(budget.bytes == 6 && nobody.reserve(4) && !shares[0].reserve(1))
    nobody.release(4)
    #expect(shares[0].reserve(4) && budget.bytes == 10)
    shares.removeAll()
    #expect(budget.bytes == 0 && peers.count == 0)
  }
}
