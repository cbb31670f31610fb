import WireJSON

extension RealtimeRequests {
  /// Runs the performance test that was requested with *Initiate Performance Test*, and reports its result.
  func perform(_ order: RetentionSetup.TestOrder, at url: String, _ report: @escaping @Sendable (RetentionSetup.TestResult) -> Void) {
    var configuration = TestConfiguration()
    configuration.totalRequests = order.requests
    configuration.maxConcurrentRequests = order.concurrent
    configuration.totalDuration = order.duration
    configuration.responseTimeThreshold = order.threshold
    configuration.successRateThreshold = Int64(order.successRate)
    Task { [configuration] in
      let result = await run(
        configuration, at: url, app: order.app, originalTransactionID: order.subscription.originalID,
        fields: ["productId": .string(order.subscription.productID)])
      var told = RetentionSetup.TestResult(result: result.isPassed ? "PASS" : "FAIL", successRate: Int(result.successRate))
      told.average = result.average
      (told.p50, told.p90, told.p95, told.p99) = (
        result.percentile(50), result.percentile(90), result.percentile(95), result.percentile(99)
      )
      for (failure, count) in result.failures { told.failures[failure.rawValue] = count }
      report(told)
    }
  }
}
