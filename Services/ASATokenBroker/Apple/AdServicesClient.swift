import AppleAttribution
import HTTPClient

/// Asks Apple about tokens (AdServices: attributionToken()).
struct AdServicesClient: Sendable {
  /// Apple's records have some 400 bytes.
  private static let longestAnswer = 64 * 1024

  let http: HTTPClient
  let url: String
  /// Of one call. Apple holds a request up to a second before a 404.
  let timeout: Duration
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  /// One call, and what its answer asks for by `Retry-After`. The token is the body, alone, as text: Apple's page demands `text/plain`.
  ///
  /// - Parameter left: of the token's life.
  func ask(_ token: AttributionToken, within left: Duration) async -> (answer: AdServicesAnswer, retryAfter: Duration?) {
    do {
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url, headers: [("Content-Type", "text/plain"), ("Accept", "application/json")],
          body: Array(token.text.utf8), timeout: min(timeout, left), maxResponseBytes: Self.longestAnswer))
      return (AdServicesAnswer(status: response.status, body: response.body), response.retryAfter(now: now() / 1000))
    } catch {
      return (.tryLater(.transport("\(error)")), nil)
    }
  }
}
