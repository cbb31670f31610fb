import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Initiate Performance Test.
struct StartRetentionPerformanceTestHandler: RPCHandler {
  typealias Method = RetentionService.StartRetentionPerformanceTest
  let calls: RetentionCalls

  func handle(_ request: StartRetentionPerformanceTestRequest, _ context: RPCContext) async throws(RPCError)
    -> StartRetentionPerformanceTestResponse
  {
    let target = try calls.sandbox(request.bundleId, request.environment)
    let id = try calls.calls.transactionId("originalTransactionId", request.originalTransactionId)
    let response = try await calls.ask(.startRetentionPerformanceTest, target, body: ["originalTransactionId": .string(id)], context)
    return StartRetentionPerformanceTestResponse(
      requestId: try RetentionCalls.text(response, "requestId"), response: response.body, environment: response.server.rawValue)
  }
}
