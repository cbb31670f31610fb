import NIOHTTP1
import Testing

@testable import ServiceRuntime

@Suite struct AllowedHostsTests {
  @Test(arguments: [
    "localhost", "LocalHost:8080", "app.localhost", "127.0.0.1", "127.0.0.1:8091", "127.9.9.9", "[::1]", "[::1]:8091",
    "[0:0:0:0:0:0:0:1]:1", "[::ffff:127.0.0.1]", "ads.example.com", "ADS.example.com:443", "192.0.2.7:80",
  ])
  func `Loopback names and configured hosts are allowed with any port`(_ host: String) throws {
    #expect(try AllowedHosts("ads.example.com, 192.0.2.7").contains(host))
  }

  @Test(arguments: [
    "evil.example", "evil.example:8091", "localhost.evil.example", "127.0.0.1.evil.example", "notlocalhost", "192.0.2.8", "", ":80",
    "localhost:x", "localhost:99999", "[::2]", "[::1", "::1", "127.0.0.1@evil.example", "localhost.", "1.0.0.127",
  ])
  func `Another name is not allowed`(_ host: String) throws {
    #expect(try !AllowedHosts("ads.example.com").contains(host))
  }

  @Test(arguments: ["ads.example.com:443", "a,,b", "a, ", "[::1", "http://a"])
  func `A list that holds no host name is refused`(_ list: String) { #expect(throws: ConfigurationError.self) { try AllowedHosts(list) } }

  private struct Answering: HTTPResponder {
    func begin(_ request: IncomingRequest) -> RequestAdmission { .response(HTTPResponse(status: 200)) }
  }

  @Test(arguments: [("localhost", 200), ("evil.example", 421), (nil, 200)])
  func `A request of another host is refused before anything else, and one without a host comes from no browser`(host: String?, status: Int)
  {
    let responder = AllowedHostsResponder(allowed: .loopback, inner: Answering(), registry: MetricsRegistry())
    let headers = HTTPHeaders(host.map { [("host", $0)] } ?? [])
    let request = IncomingRequest(method: "GET", target: "/", headers: headers, peer: ConnectionPeer(), isHTTP2: false)
    guard case .response(let response) = responder.begin(request) else { return #expect(Bool(false), "it is answered at once") }
    #expect(response.status == status)
  }
}
