import Cryptography
import HTTPClient

/// Sends OCSP requests to Apple's responders over HTTP.
struct OCSPFetcher: OCSPFetching {
  /// The timeout of a responder, for which a verdict by RPC may wait.
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
