import Synchronization
import WireJSON

/// The performance tests that apps request. ``RealtimeRequests`` runs them.
extension RetentionSetup {
  /// A performance test that an app has requested (*PerformanceTestConfig*).
  struct RequestedTest: Sendable {
    var requestID: String
    var app: SimulatedApp
    var subscription: SimulatedSubscription
    /// The app's URL.
    var url: String
    var requests = 500
    var concurrentRequests = 20
    /// Milliseconds.
    var duration: Int64 = 30_000
    /// The maximum duration of a request, in milliseconds.
    var threshold: Int64 = 700
    /// The required percentage of successful requests.
    var successRate = 95

    var config: JSONObject {
      [
        "maxConcurrentRequests": .integer(concurrentRequests), "totalRequests": .integer(requests), "totalDuration": .integer(duration),
        "responseTimeThreshold": .integer(threshold), "successRateThreshold": .integer(successRate),
      ]
    }
  }

  /// The result of a performance test (*PerformanceTestResultResponse*).
  struct TestResult: Sendable {
    /// `PENDING`, `PASS` or `FAIL`.
    var result: String
    /// The percentage of successful requests.
    var successRate = 0
    /// The number of requests that have no result yet.
    var pending = 0
    /// The average and the percentiles of the durations of requests, in milliseconds.
    var average: Int64 = 0
    var p50: Int64 = 0
    var p90: Int64 = 0
    var p95: Int64 = 0
    var p99: Int64 = 0
    /// The number of failed requests by *sendAttemptResult*.
    var failures: [String: Int] = [:]
  }

  /// Runs a performance test against a server in the background, and passes the result to `report`.
  typealias TestRunner = @Sendable (RequestedTest, _ url: String, _ report: @escaping @Sendable (TestResult) -> Void) -> Void

  /// *Initiate Performance Test*. The test is run if a control request has set the server's URL on this machine; otherwise it stays pending
  /// until a control request sets its result.
  func startTest(_ call: AppStoreServerAPI.Call, _ subscription: SimulatedSubscription, requestID: String) throws -> SimulatedResponse {
    let (test, serverURL) = try state.withLock { state -> (RequestedTest, String?) in
      guard let app = state.apps[Self.key(call)], let url = app.url else { throw APIError(4_040_021, "Realtime URL not found.") }
      let isRunning = state.tests.values.contains { $0.test.app.bundleID == call.app.bundleID && $0.result.result == "PENDING" }
      guard !isRunning else { throw APIError(4_000_213, "Invalid request. A performance test is running.") }
      var test = RequestedTest(requestID: requestID, app: call.app, subscription: subscription, url: url)
      test.requests = app.requests ?? test.requests
      test.duration = app.duration ?? test.duration
      state.tests[requestID] = (test, TestResult(result: "PENDING", pending: test.requests))
      return (test, app.serverURL)
    }
    if let serverURL, let runTest = testRunner.withLock({ $0 }) {
      let path = test.url.dropFirst("https://".count).drop { $0 != "/" }
      runTest(test, serverURL + path) { [self] result in record(result, of: requestID) }
    }
    return .json(["config": .object(test.config), "requestId": .string(requestID)])
  }

  /// Stores the result of a test. The result of the last completed test decides whether production accepts a URL.
  func record(_ result: TestResult, of requestID: String) {
    state.withLock { state in
      guard var entry = state.tests[requestID] else { return }
      entry.result = result
      state.tests[requestID] = entry
      if result.result != "PENDING" {
        state.apps["Production/\(entry.test.app.bundleID)", default: App()].hasPassed = result.result == "PASS"
      }
    }
  }

  /// *Get Performance Test Results*.
  func result(_ call: AppStoreServerAPI.Call) throws -> SimulatedResponse {
    let id = call.values[0]
    guard isUUID(id) else { throw APIError(4_000_212, "Invalid request. The request id is invalid.") }
    guard let entry = state.withLock({ $0.tests[id.lowercased()] ?? $0.tests[id] }), entry.test.app.bundleID == call.app.bundleID else {
      throw APIError(4_040_018, "Performance test run not found.")
    }
    let result = entry.result
    return .json([
      "config": .object(entry.test.config), "target": .string(entry.test.url), "result": .string(result.result),
      "successRate": .integer(result.successRate), "numPending": .integer(result.pending),
      "responseTimes": [
        "average": .integer(result.average), "p50": .integer(result.p50), "p90": .integer(result.p90), "p95": .integer(result.p95),
        "p99": .integer(result.p99),
      ],
      "failures": .object(
        JSONObject(result.failures.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) })),
    ])
  }
}
