import WireJSON

extension RealtimeRequests {
  /// Runs the performance test that was requested with *Initiate Performance Test*, and reports its result.
  func perform(_ test: RetentionSetup.RequestedTest, at url: String, _ report: @escaping @Sendable (RetentionSetup.TestResult) -> Void) {
    var configuration = TestConfiguration()
    configuration.totalRequests = test.requests
    configuration.maxConcurrentRequests = test.concurrentRequests
    configuration.totalDuration = test.duration
    configuration.responseTimeThreshold = test.threshold
    configuration.successRateThreshold = Int64(test.successRate)
    Task { [configuration] in
      let result = await run(
        configuration, at: url, app: test.app, originalTransactionID: test.subscription.originalID,
        fields: ["productId": .string(test.subscription.productID)])
      var reported = RetentionSetup.TestResult(result: result.isPassed ? "PASS" : "FAIL", successRate: Int(result.successRate))
      reported.average = result.average
      (reported.p50, reported.p90, reported.p95, reported.p99) = (
        result.percentile(50), result.percentile(90), result.percentile(95), result.percentile(99)
      )
      for (failure, count) in result.failures { reported.failures[failure.rawValue] = count }
      report(reported)
    }
  }
}
