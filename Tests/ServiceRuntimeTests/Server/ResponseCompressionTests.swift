import NIOHTTP1
import Testing

@testable import ServiceRuntime

@Suite struct ResponseCompressionTests {
  private func isCompressed(_ headers: HTTPHeaders, bytes: Int = 5000) -> Bool {
    let request = IncomingRequest(method: "POST", target: "/", headers: headers, peer: ConnectionPeer(), isHTTP2: false)
    var response = HTTPResponse.json(200, [UInt8](repeating: 32, count: bytes))
    ResponseCompression.apply(&response, request)
    return response.headers.first(name: "content-encoding") == "gzip"
  }

  @Test(arguments: ["gzip", "GZIP", "br, gzip", "gzip;q=0.5", "gzip ; q=1.000", "deflate, gzip; q=0.001"])
  func `A caller that accepts gzip gets it`(_ accepted: String) { #expect(isCompressed(["accept-encoding": accepted])) }

  @Test(arguments: ["", "identity", "br", "gzip;q=0", "gzip;q=0.0", "gzip; q=0.000", "gzip ; Q = 0", "xgzip"])
  func `A caller that does not accept gzip gets none`(_ accepted: String) {
    #expect(!isCompressed(["accept-encoding": accepted]))
    // The header counts more than the encoding of the request.
    #expect(!isCompressed(["accept-encoding": accepted, "content-encoding": "gzip"]))
  }

  @Test func `Every line of the header counts, and without one the encoding of the request`() {
    var headers: HTTPHeaders = ["accept-encoding": "br"]
    headers.add(name: "accept-encoding", value: "gzip")
    #expect(isCompressed(headers))
    #expect(isCompressed(["content-encoding": "gzip"]))
    #expect(!isCompressed([:]))
  }

  @Test func `Small responses are not compressed`() {
    #expect(!isCompressed(["accept-encoding": "gzip"], bytes: 1023))
    #expect(isCompressed(["accept-encoding": "gzip"], bytes: 1024))
  }
}
