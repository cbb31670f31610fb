import Foundation
import Testing
import WireJSON

@testable import AppStore

@Suite("Errors of the App Store Server API")
struct ServerAPIErrorTests {
  static let cases: [JSONValue] = APIVectors.load("api-errors.json")

  @Test("every case of the vectors is classified", arguments: cases)
  func vectors(_ value: JSONValue) throws {
    let id = value["id"]?.stringValue ?? "?"
    let expected = try #require(value["expect"]?.stringValue)
    // A missing answer is a failure of Apple or of the network, so a read is retried.
    guard let status = value["status"]?.int64Value else {
      let error = AppStoreServerAPIError(.server, message: "the connection broke", server: .production)
      #expect(
        AppStoreServerRetryRule().delay(after: error, endpoint: .getTransactionInfo, attempt: 1, now: 0, random: 1) != nil,
        "\(id)")
      return
    }
    let now = value["now"]?.int64Value ?? 1_789_000_000_000
    let body = value["body"].flatMap { $0.isNull ? nil : $0.serialized } ?? []
    let error = AppStoreServerAPIErrorRule.error(
      status: Int(status), header: { name in value["headers"]?[name]?.stringValue }, body: body,
      server: value["environment"]?.stringValue.flatMap(AppStoreServer.init(rawValue:)) ?? .production,
      mayTryOther: value["autoEnvironment"]?.boolValue ?? false, now: now)
    let classes: [String: Set<AppStoreServerAPIError.Classification>] = [
      "retry": [.retry, .rate, .server], "try-sandbox": [.tryOtherEnvironment], "permanent": [.permanent],
      "credentials": [.credentials],
    ]
    if expected == "success" {
      #expect(error == nil, "\(id)")
      return
    }
    let found = try #require(error, "\(id)")
    #expect(classes[expected]?.contains(found.classification) == true, "\(id): \(found.classification)")
    if let moment = value["retryAtMs"]?.int64Value { #expect(found.retryAt == moment, "\(id)") }
    if let code = value["errorCode"]?.int64Value { #expect(found.errorCode == code, "\(id)") }
  }

  @Test(
    "the classes of the table",
    arguments: [
      (404, 4_040_002, AppStoreServerAPIError.Classification.retry), (404, 4_040_004, .retry), (404, 4_040_006, .retry),
      (500, 5_000_001, .retry), (500, 5_000_000, .server), (503, nil, .server), (429, 4_290_000, .rate), (429, nil, .rate),
      (401, nil, .credentials), (404, 4_040_007, .configuration), (400, 4_000_002, .configuration), (404, 4_040_010, .permanent),
      (404, 4_040_019, .permanent), (403, 4_030_004, .permanent), (404, nil, .permanent), (302, nil, .permanent),
    ] as [(Int, Int64?, AppStoreServerAPIError.Classification)])
  func table(status: Int, code: Int64?, expected: AppStoreServerAPIError.Classification) {
    #expect(AppStoreServerAPIErrorRule.classify(status: status, errorCode: code, mayTryOther: false) == expected)
  }

  @Test(
    "a token that production refused is reported even if the sandbox does not know the purchase",
    arguments: [4_040_010, 4_040_005, 4_040_001] as [Int64])
  func verdict(code: Int64) {
    let unknown = AppStoreServerAPIError(.permanent, status: 404, errorCode: code, message: "unknown", server: .sandbox)
    let refused = AppStoreServerAPIError(.credentials, status: 401, message: "no", server: .production)
    #expect(AppStoreServerAPIErrorRule.verdict(production: refused, sandbox: unknown) == refused)
    let elsewhere = AppStoreServerAPIError(.tryOtherEnvironment, status: 404, errorCode: code, message: "unknown", server: .production)
    #expect(AppStoreServerAPIErrorRule.verdict(production: elsewhere, sandbox: unknown) == unknown)
    let limited = AppStoreServerAPIError(.rate, status: 429, errorCode: 4_290_000, message: "later", retryAt: 5, server: .sandbox)
    #expect(AppStoreServerAPIErrorRule.verdict(production: refused, sandbox: limited) == limited)
  }

  @Test(
    "the error for a refused token names the difference of the clocks",
    arguments: [
      (nil, nil, "status 401"), (2, nil, "status 401"), (-2, nil, "status 401"), (3, 3, "3 s ahead of Apple's"),
      (600, 600, "600 s ahead of Apple's"), (-45, -45, "45 s behind Apple's"),
    ] as [(Int64?, Int64?, String)])
  func clocks(difference: Int64?, named: Int64?, text: String) {
    func error(_ status: Int) -> AppStoreServerAPIError? {
      AppStoreServerAPIErrorRule.error(
        status: status, header: { _ in nil }, body: [], server: .production, mayTryOther: false, now: 0, clockDifference: difference)
    }
    #expect(error(401)?.clockDifference == named && error(401)?.message.contains(text) == true)
    #expect(error(401).map(AppStoreServerAPIErrorRule.notReleased)?.clockDifference == named)
    // Other errors have other causes.
    #expect(error(404)?.clockDifference == nil && error(404)?.message == "status 404")
  }

  @Test("any 2xx is success, with or without a body")
  func success() {
    for status in [200, 202, 204] {
      #expect(
        AppStoreServerAPIErrorRule.error(
          status: status, header: { _ in nil }, body: [], server: .sandbox, mayTryOther: true, now: 0) == nil)
    }
  }

  @Test("a body that is not JSON leaves only the status")
  func notJSON() {
    let error = AppStoreServerAPIErrorRule.error(
      status: 502, header: { _ in nil }, body: Array("<html>".utf8), server: .production, mayTryOther: false, now: 0)
    #expect(error?.classification == .server)
    #expect(error?.errorCode == nil)
  }

  @Test("the sandbox is called last")
  func sandboxIsLast() {
    let body = Array(#"{"errorCode":4040010,"errorMessage":"Transaction id not found."}"#.utf8)
    for (server, expected) in [
      (AppStoreServer.production, AppStoreServerAPIError.Classification.tryOtherEnvironment), (.sandbox, .permanent),
    ] {
      let error = AppStoreServerAPIErrorRule.error(
        status: 404, header: { _ in nil }, body: body, server: server, mayTryOther: true, now: 0)
      #expect(error?.classification == expected)
    }
  }
}

@Suite("Retry-After of the App Store Server API")
struct ServerAPIRetryAfterTests {
  static let now: Int64 = 1_789_000_000_000

  @Test(
    "all three forms are parsed",
    arguments: [
      ("1789000060000", 60_000), ("30", 30_000), ("Thu, 10 Sep 2026 00:27:00 GMT", 20_000), (" 1789000060000 ", 60_000),
      ("soon", 60_000), ("", 60_000), ("-5", 60_000), (nil, 60_000),
    ] as [(String?, Int64)])
  func forms(header: String?, after: Int64) {
    #expect(RetryAfterRule.retryAt(header: header, now: Self.now) == Self.now + after)
  }

  @Test(
    "the wait is at least a second and at most an hour",
    arguments: [
      ("1788999990000", 1000), ("0", 1000), ("1789900000000", 3_600_000), ("99999", 3_600_000), ("999999999999", 3_600_000),
    ] as [(String, Int64)])
  func bounds(header: String, after: Int64) {
    #expect(RetryAfterRule.retryAt(header: header, now: Self.now) == Self.now + after)
  }

  @Test(
    "dates are converted by the calendar",
    arguments: [
      ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777_000),
      ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600_000),
    ] as [(String, Int64)])
  func dates(text: String, expected: Int64) {
    #expect(RetryAfterRule.time(in: text, now: Self.now) == expected)
  }
}

@Suite("Retries of the App Store Server API")
struct ServerAPIRetryRuleTests {
  let rule = AppStoreServerRetryRule()

  func delay(
    _ kind: AppStoreServerAPIError.Classification, _ endpoint: AppStoreServerEndpoint, _ attempt: Int, retryAt: Int64? = nil,
    status: Int? = nil
  ) -> Int64? {
    rule.delay(
      after: AppStoreServerAPIError(kind, status: status, message: "", retryAt: retryAt, server: .production), endpoint: endpoint,
      attempt: attempt, now: 1000, random: 1)
  }

  @Test("errors that Apple asks to retry are retried six times with growing delays")
  func retry() {
    #expect((1...6).map { delay(.retry, .getTransactionInfo, $0) } == [1000, 2000, 4000, 8000, 16_000, nil])
  }

  @Test(
    "a change that may have been made is not repeated automatically, even if Apple asks to retry",
    arguments: AppStoreServerEndpoint.allCases)
  func unknownOutcome(_ endpoint: AppStoreServerEndpoint) {
    #expect((delay(.retry, endpoint, 1, status: 500) == nil) == !endpoint.isRepeatable)
    // A 404 with "try again" has changed nothing.
    #expect(delay(.retry, endpoint, 1, status: 404) == 1000)
  }

  @Test("after a failure of the server, reads are attempted three times and changes once")
  func server() {
    #expect((1...3).map { delay(.server, .getNotificationHistory, $0) } == [1000, 2000, nil])
    for endpoint in AppStoreServerEndpoint.allCases where !endpoint.isRead { #expect(delay(.server, endpoint, 1) == nil) }
  }

  @Test("a rate limit is waited for, with some jitter")
  func rate() {
    #expect(delay(.rate, .getTransactionInfo, 1, retryAt: 61_000) == 61_000)
    #expect(
      rule.delay(
        after: AppStoreServerAPIError(.rate, message: "", retryAt: 61_000, server: .sandbox), endpoint: .getTransactionInfo, attempt: 9,
        now: 1000, random: 0) == 60_000)
  }

  @Test(
    "nothing else is retried",
    arguments: [
      AppStoreServerAPIError.Classification.tryOtherEnvironment, .credentials, .configuration, .permanent,
    ])
  func never(_ kind: AppStoreServerAPIError.Classification) { #expect(delay(kind, .getTransactionInfo, 1) == nil) }

  @Test("the pause has a maximum and full jitter")
  func jitter() {
    var rule = AppStoreServerRetryRule()
    rule.attempts = 100
    let error = AppStoreServerAPIError(.retry, message: "", server: .production)
    for attempt in 1...99 {
      let step = rule.delay(after: error, endpoint: .getTransactionInfo, attempt: attempt, now: 0, random: 1)
      #expect(step == min(60_000, 1000 << Int64(min(attempt - 1, 20))))
      #expect(rule.delay(after: error, endpoint: .getTransactionInfo, attempt: attempt, now: 0, random: 0) == 0)
    }
  }
}

/// Vectors of the App Store Server API.
enum APIVectors {
  static func load(_ name: String) -> [JSONValue] {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../Vectors/appstore/\(name)")
    guard let bytes = try? Data(contentsOf: file), let cases = try? JSONValue(parsing: Array(bytes)).arrayValue else { return [] }
    return cases
  }
}
