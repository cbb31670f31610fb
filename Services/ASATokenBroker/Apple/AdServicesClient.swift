import AppleAttribution
import HTTPClient
import Synchronization
import UpstreamPacing

/// Asks Apple about tokens (AdServices: attributionToken()).
final class AdServicesClient: Sendable {
  /// What became of one question.
  enum Result: Sendable {
    case answered(AdServicesAnswer, retryAfterMilliseconds: Int64?)
    /// Not asked: Apple's server has been failing; milliseconds to wait.
    case notAsked(wait: Int64)
  }

  /// Apple's address; another one only for a simulator or a test.
  static let appleURL = "https://api-adservices.apple.com/api/v1/"

  private let http: HTTPClient
  private let url: String
  private let now: @Sendable () -> Int64
  private let breaker = Mutex(CircuitBreaker())

  init(http: HTTPClient, url: String, now: @escaping @Sendable () -> Int64) {
    self.http = http
    self.url = url
    self.now = now
  }

  /// One call. The token is the body, alone, as text: Apple's page demands `text/plain`.
  func ask(_ token: AttributionToken) async -> Result {
    let ticket: CircuitBreaker.Ticket
    switch breaker.withLock({ $0.admit(now: now(), chance: .random(in: 0..<1)) }) {
    case .wait(let wait): return .notAsked(wait: wait)
    case .call(let granted): ticket = granted
    }
    do {
      // Apple holds a request up to a second before a 404: ten seconds are far above that.
      let response = try await http.send(
        HTTPClientRequest(
          method: "POST", url: url, headers: [("Content-Type", "text/plain"), ("Accept", "application/json")],
          body: Array(token.text.utf8), timeout: .seconds(10), maxResponseBytes: 64 * 1024))
      let answer = AdServicesAnswer(status: response.status, body: response.body)
      let isFailure = if case .tryLater = answer { true } else { false }
      breaker.withLock { $0.record(ticket, isFailure ? .failed : .succeeded, now: now(), chance: .random(in: 0..<1)) }
      return .answered(answer, retryAfterMilliseconds: Self.retryAfter(response[header: "Retry-After"]))
    } catch {
      breaker.withLock { $0.record(ticket, .failed, now: now(), chance: .random(in: 0..<1)) }
      return .answered(.tryLater(.transport("\(error)")), retryAfterMilliseconds: nil)
    }
  }

  private static func retryAfter(_ value: String?) -> Int64? {
    guard let value, let seconds = Int64(value.filter { $0 != " " }), (0...172_800).contains(seconds) else {
      return nil
    }
    return seconds * 1000
  }
}
