import Cryptography
import HTTPClient

/// Sends OCSP requests to the responders that Apple's certificates name, over HTTP. `RevocationChecker` of the module Cryptography calls
/// it.
struct OCSPFetcher: OCSPFetching {
  /// The timeout of a request. The verdict of an RPC may wait this long.
  static let timeout: Duration = .seconds(5)

  let http: HTTPClient

  func fetch(_ request: OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8] {
    let response: HTTPClientResponse
    do throws(HTTPClientError) {
      response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: request.responder,
          headers: [("Content-Type", "application/ocsp-request"), ("Accept", "application/ocsp-response")], body: request.der,
          timeout: Self.timeout, maxResponseBytes: OCSPResponse.sizeLimit))
    } catch {
      throw .unreachable("\(error)")
    }
    guard response.status == 200 else { throw .status(response.status) }
    guard response.body.count <= OCSPResponse.sizeLimit else { throw .tooLarge }
    return response.body
  }
}
