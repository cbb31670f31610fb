import AttributionProtocol
import AttributionQueue

extension QueueHandlers {
  static func state(_ state: StoreFormState) -> StoreState {
    StoreState(
      form: Int32(state.form.rawValue), newestForm: Int32(StoreForm.newest.rawValue),
      shardsBehind: Int32(clamping: state.shardsBehind),
      outdatedWorkers: state.olderWorkers.map {
        OutdatedWorker(
          queue: $0.queue.rawValue, name: $0.name, form: Int32(clamping: $0.form), idleSeconds: $0.idleSeconds)
      })
  }
}

struct GetStoreFormHandler: RPCHandler {
  typealias Method = QueuesService.GetStoreForm
  let administration: QueueAdministration

  func handle(_ request: GetStoreFormRequest, _ context: RPCContext) async throws(RPCError) -> GetStoreFormResponse {
    let state = try await QueueHandlers.ask { () throws(QueueError) in try await administration.form() }
    return GetStoreFormResponse(store: QueueHandlers.state(state))
  }
}

struct SetStoreFormHandler: RPCHandler {
  typealias Method = QueuesService.SetStoreForm
  let administration: QueueAdministration

  func handle(_ request: SetStoreFormRequest, _ context: RPCContext) async throws(RPCError) -> SetStoreFormResponse {
    guard let number = request.form else { throw .invalidArgument(field: "form", "is missing") }
    guard let form = StoreForm(rawValue: Int(number)) else {
      let known = StoreForm.allCases.map { "\($0.rawValue)" }.joined(separator: " or ")
      throw .invalidArgument(field: "form", "must be \(known), which are the forms that this build knows")
    }
    do throws(StoreFormRefusal) {
      return SetStoreFormResponse(store: QueueHandlers.state(try await administration.setForm(form, force: request.force ?? false)))
    } catch {
      switch error {
      case .unavailable(let error): return try await QueueHandlers.ask { () throws(QueueError) in throw error }
      case .isUnknown(let workers):
        let names = workers.prefix(3).map { "\($0.name) of \($0.queue.rawValue), \(Int($0.idleSeconds)) s ago" }.joined(separator: "; ")
        throw .failedPrecondition(
          "\(workers.count) workers do not know form \(number): \(names). Replace them, wait, or set force", reason: "OLDER_WORKERS")
      }
    }
  }
}
