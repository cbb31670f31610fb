import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Apple: Initiate Performance Test.
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

/// Apple: Get Performance Test Results.
struct GetRetentionPerformanceTestHandler: RPCHandler {
  typealias Method = RetentionService.GetRetentionPerformanceTest
  let calls: RetentionCalls

  func handle(_ request: GetRetentionPerformanceTestRequest, _ context: RPCContext) async throws(RPCError)
    -> GetRetentionPerformanceTestResponse
  {
    let target = try calls.sandbox(request.bundleId, request.environment)
    let id = try calls.calls.filled("requestId", request.requestId)
    let response = try await calls.ask(.getRetentionPerformanceTest, target, path: [id], context)
    return GetRetentionPerformanceTestResponse(
      result: try RetentionCalls.text(response, "result"), response: response.body, environment: response.server.rawValue)
  }
}
