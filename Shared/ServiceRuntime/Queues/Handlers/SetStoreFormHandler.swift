import AttributionProtocol
import AttributionQueue

/// Changes the form of the data in Redis, unless a worker that was active lately does not know the new form.
struct SetStoreFormHandler: RPCHandler {
  typealias Method = QueuesService.SetStoreForm
  let administration: QueueAdministration

  func handle(_ request: SetStoreFormRequest, _ context: RPCContext) async throws(RPCError) -> SetStoreFormResponse {
    guard let number = request.form else { throw .invalidArgument(field: "form", "is missing") }
    guard let form = StoreForm(rawValue: Int(number)) else {
      let known = StoreForm.allCases.map { "\($0.rawValue)" }.joined(separator: " or ")
      throw .invalidArgument(field: "form", "must be \(known), the forms that this build knows")
    }
    do throws(StoreFormRefusal) {
      return SetStoreFormResponse(store: QueueHandlers.state(try await administration.setForm(form, force: request.force ?? false)))
    } catch {
      switch error {
      case .unavailable(let error): return try await QueueHandlers.run { () throws(QueueError) in throw error }
      case .isUnknown(let workers):
        let names = workers.prefix(3).map { "\($0.name) of \($0.queue.rawValue), \(Int($0.idleSeconds)) s ago" }.joined(separator: "; ")
        throw .failedPrecondition(
          "\(workers.count) workers do not know form \(number): \(names). Replace them, wait, or set force", reason: "OLDER_WORKERS")
      }
    }
  }
}
