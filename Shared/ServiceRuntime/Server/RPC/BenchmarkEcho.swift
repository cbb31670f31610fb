/// Answers `POST /benchmark.echo/Echo` with fixed bytes over the same HTTP code as a call. Benchmarks compare with it, because no call can
/// be faster. It is only for development (`ATTRIBUTION_BENCHMARK_ECHO=1` with `ATTRIBUTION_DEVELOPMENT=1`).
struct BenchmarkEcho: HTTPResponder {
  static let path = "/benchmark.echo/Echo"
  /// Answers all other requests.
  let inner: any HTTPResponder

  /// A response of the same length as the one with a signed impression.
  private static let response: HTTPResponse = {
    let text =
      #"{"version":"4.0","adNetworkId":"example123.skadnetwork","sourceIdentifier":5239,"itunesItemId":525463029,"#
      + #""sourceAppId":1234567891,"fidelityType":1,"nonce":"68483ef6-0678-41df-b8ee-a6f2db1f9d3b","timestamp":1594406342000,"#
      + #""signature":"MEQCIDBzJ9tdHjWGIyUkrJZ3H1mjCgI8LvnEVmx8JlNyTLqJAiBdC3HDfOOExnWVfE2mOKl1hhYgnCxDTFyqj9CiUvzXyQ==","#
      + #""keyId":"dev-1","sourceIdentifierDigits":4}"#
    var response = HTTPResponse.json(200, Array(text.utf8))
    response.requestId = "0af76519-16cd-43dd-8448-eb211c80319c"
    return response
  }()

  func begin(_ request: IncomingRequest) -> RequestAdmission {
    request.path == Self.path ? .body(limit: 1 << 20, Exchange()) : inner.begin(request)
  }

  private struct Exchange: HTTPExchange {
    func refuse(_ error: BodyError) -> HTTPResponse { HTTPResponse(status: 413) }
    func respond(to body: [UInt8], _ reservation: BodyReservation) -> HTTPOutcome { .now(BenchmarkEcho.response) }
  }
}
