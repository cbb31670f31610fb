import AppStore
import AttributionProtocol
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Get Performance Test Results.
struct GetRetentionPerformanceTestHandler: RPCHandler {
  typealias Method = RetentionService.GetRetentionPerformanceTest
  let calls: RetentionCalls

  func handle(_ request: GetRetentionPerformanceTestRequest, _ context: RPCContext) async throws(RPCError)
    -> GetRetentionPerformanceTestResponse
  {
    let target = try calls.sandbox(request.bundleId, request.environment)
    let id = try calls.calls.requiredText("requestId", request.requestId)
    let response = try await calls.ask(.getRetentionPerformanceTest, target, path: [id], context)
    return GetRetentionPerformanceTestResponse(
      result: try RetentionCalls.text(response, "result"), response: response.body, environment: response.server.rawValue)
  }
}
