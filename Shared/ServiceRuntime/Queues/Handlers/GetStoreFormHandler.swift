import AttributionProtocol
import AttributionQueue

struct GetStoreFormHandler: RPCHandler {
  typealias Method = QueuesService.GetStoreForm
  let administration: QueueAdministration

  func handle(_ request: GetStoreFormRequest, _ context: RPCContext) async throws(RPCError) -> GetStoreFormResponse {
    let state = try await QueueHandlers.run { () throws(QueueError) in try await administration.form() }
    return GetStoreFormResponse(store: QueueHandlers.state(state))
  }
}
