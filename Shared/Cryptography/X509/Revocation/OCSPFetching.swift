/// Carries a question to a responder. The one who implements it limits the time (well under a minute), the size of the answer
/// (`OCSPResponse.sizeLimit`) and follows no redirect.
public protocol OCSPFetching: Sendable {
  /// POSTs `request.der` to `request.responder` as `application/ocsp-request`; answers the body of a 200.
  func fetch(_ request: OCSPRequest) async throws(OCSPFetchFailure) -> [UInt8]
}

/// Why no answer came from a responder.
public enum OCSPFetchFailure: Error, Sendable, Hashable {
  /// No connection, no answer in time; whose word it is.
  case unreachable(String)
  /// Another HTTP status than 200.
  case status(Int)
  /// More bytes than an answer may have.
  case tooLarge
  /// Whoever asked no longer wants to know.
  case cancelled
}
