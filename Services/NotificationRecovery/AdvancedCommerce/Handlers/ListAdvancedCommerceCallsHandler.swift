import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `ListAdvancedCommerceCalls`: the recorded calls, newest first.
struct ListAdvancedCommerceCallsHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.ListAdvancedCommerceCalls
  let store: CommerceStore

  func handle(_ request: ListAdvancedCommerceCallsRequest, _ context: RPCContext) async throws(RPCError)
    -> ListAdvancedCommerceCallsResponse
  {
    let limit = Int(request.maxCalls ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxCalls", "must be 1 to 1000") }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: request.bundleId, limit: limit, after: token)
      return ListAdvancedCommerceCallsResponse(
        calls: page.calls.map { record in
          // Apple's answers are left out, because those of a whole page would have many megabytes.
          var call = AdvancedCommerceCall(record)
          call.response = nil
          call.decoded = []
          return call
        }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}
