import AppleAttribution
import HTTPClient

/// Calls Apple's AdServices API (AdServices: attributionToken()).
struct AdServicesClient: Sendable {
  /// The greatest size of an answer, bytes. Apple's records are much smaller.
  private static let maxResponseBytes = 64 * 1024

  let http: HTTPClient
  let url: String
  /// The timeout of one call.
  let timeout: Duration
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  /// Makes one call about a token, which is sent as `text/plain`, as Apple's documentation requires. Returns the answer and its
  /// `Retry-After`.
  ///
  /// - Parameter remaining: the remaining lifetime of the token, which also limits the call.
  func attribution(of token: AttributionToken, within remaining: Duration) async -> (
    response: AdServicesResponse, retryAfter: Duration?
  ) {
    do {
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url, headers: [("Content-Type", "text/plain"), ("Accept", "application/json")],
          body: Array(token.text.utf8), timeout: min(timeout, remaining), maxResponseBytes: Self.maxResponseBytes))
      return (AdServicesResponse(status: response.status, body: response.body), response.retryAfter(now: now() / 1000))
    } catch {
      return (.tryLater(.transport("\(error)")), nil)
    }
  }
}
