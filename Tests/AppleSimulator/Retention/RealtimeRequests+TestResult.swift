import WireJSON

extension RealtimeRequests {
  /// The settings of the test (*PerformanceTestConfig*).
  struct TestConfiguration: Sendable {
    var maxConcurrentRequests = 10
    var totalRequests = 200
    /// Milliseconds, over which the starts of the requests are spread.
    var totalDuration: Int64 = 10_000
    /// The maximum duration of a successful request, in milliseconds.
    var responseTimeThreshold: Int64 = 700
    /// The required percentage of successful requests.
    var successRateThreshold: Int64 = 95

    var json: JSONObject {
      [
        "maxConcurrentRequests": .integer(maxConcurrentRequests), "totalRequests": .integer(totalRequests),
        "totalDuration": .integer(totalDuration), "responseTimeThreshold": .integer(responseTimeThreshold),
        "successRateThreshold": .integer(successRateThreshold),
      ]
    }
  }

  /// The result of the test (*PerformanceTestResultResponse*).
  struct TestResult: Sendable {
    var configuration: TestConfiguration
    var target: String
    /// The duration of each request in seconds, in the order of the answers.
    var times: [Double] = []
    /// The number of failed requests by their result.
    var failures: [AttemptResult: Int] = [:]
    var successes = 0

    /// The percentage of successful requests, rounded down.
    var successRate: Int64 {
      let all = successes + failures.values.reduce(0, +)
      return all == 0 ? 0 : Int64(successes * 100 / all)
    }

    var isPassed: Bool { successRate >= configuration.successRateThreshold }

    /// The average duration in milliseconds.
    var average: Int64 { times.isEmpty ? 0 : Int64((times.reduce(0, +) / Double(times.count) * 1000).rounded()) }

    /// A percentile of the durations in milliseconds, by the nearest-rank method.
    func percentile(_ share: Double) -> Int64 {
      guard !times.isEmpty else { return 0 }
      let sorted = times.sorted()
      let rank = max(1, Int((share / 100 * Double(sorted.count)).rounded(.up)))
      return Int64((sorted[rank - 1] * 1000).rounded())
    }

    var json: JSONObject {
      [
        "config": .object(configuration.json), "target": .string(target), "result": isPassed ? "PASS" : "FAIL",
        "successRate": .integer(successRate), "numPending": 0,
        "responseTimes": [
          "average": .integer(average), "p50": .integer(percentile(50)), "p90": .integer(percentile(90)), "p95": .integer(percentile(95)),
          "p99": .integer(percentile(99)),
        ],
        "failures": .object(
          JSONObject(
            failures.sorted { $0.key.rawValue < $1.key.rawValue }.map {
              JSONObject.Member(key: $0.key.rawValue, value: .integer($0.value))
            })),
      ]
    }
  }
}
