/// Sends requests to an OCSP responder. An implementation must limit the time (well under a minute) and the size of the response
/// (`OCSPResponse.sizeLimit`), and must not follow redirects.
public protocol OCSPFetching: Sendable {
  /// POSTs `request.der` to the URL `request.responder` as `application/ocsp-request`. Returns the body of a response with status 200.
  func fetch(_ request: OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8]
}

/// Why a responder's response cannot be used.
public enum OCSPFetchFailure: Error, Sendable, Hashable {
  /// No connection, or no response in time; with a description.
  case unreachable(String)
  /// An HTTP status other than 200.
  case status(Int)
  /// The response is larger than `OCSPResponse.sizeLimit`.
  case tooLarge
  /// The caller was cancelled.
  case cancelled
}
