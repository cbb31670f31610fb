/// Sends requests to an OCSP responder. An implementation must limit the time (well under a minute) and the size of the answer
/// (`OCSPResponse.sizeLimit`), and must not follow redirects.
public protocol OCSPFetching: Sendable {
  /// POSTs `request.der` to `request.responder` as `application/ocsp-request`. Returns the body of a 200.
  func fetch(_ request: OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8]
}

/// Why there is no answer of a responder.
public enum OCSPFetchFailure: Error, Sendable, Hashable {
  /// No connection, or no answer in time; with a description.
  case unreachable(String)
  /// Another HTTP status than 200.
  case status(Int)
  /// The answer is too large.
  case tooLarge
  /// The caller was cancelled.
  case cancelled
}
