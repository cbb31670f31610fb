import AppleAttribution
import HTTPClient

/// Asks Apple about tokens (AdServices: attributionToken()).
struct AdServicesClient: Sendable {
  /// The greatest size of an answer, bytes. Apple's records have about 400.
  private static let maxResponseBytes = 64 * 1024

  let http: HTTPClient
  let url: String
  /// The timeout of one call. Apple may take up to a second to answer 404.
  let timeout: Duration
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  /// Makes one call. Returns the answer and its `Retry-After`. The body is the token as `text/plain`, as Apple's documentation requires.
  ///
  /// - Parameter left: the remaining lifetime of the token.
  func ask(_ token: AttributionToken, within left: Duration) async -> (response: AdServicesResponse, retryAfter: Duration?) {
    do {
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url, headers: [("Content-Type", "text/plain"), ("Accept", "application/json")],
          body: Array(token.text.utf8), timeout: min(timeout, left), maxResponseBytes: Self.maxResponseBytes))
      return (AdServicesResponse(status: response.status, body: response.body), response.retryAfter(now: now() / 1000))
    } catch {
      return (.tryLater(.transport("\(error)")), nil)
    }
  }
}
