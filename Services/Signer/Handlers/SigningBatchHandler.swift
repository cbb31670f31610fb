import AttributionProtocol
import ServiceRuntime

/// An item of a batch that passed all checks.
enum CheckedItem<Response: Sendable>: Sendable {
  /// The item needs a signature.
  case signature(CoalescedCall<PendingSignature, Response>)
  /// The item needs no signature now, because it is a deferred web ad.
  case complete(Response)
}

/// A handler that signs the items of a batch. `BatchRPCHandler` divides a batch into chunks for the cores; the signatures of a chunk are
/// made together, which is cheaper.
protocol SigningBatchHandler: BatchRPCHandler where Resources == Void {
  /// Checks an item. ``PendingSignature/perform(_:)`` makes its signature afterwards.
  func begin(_ item: Item, _ context: RPCContext) async throws(RPCError) -> CheckedItem<ItemResult>
}

extension SigningBatchHandler {
  func respond(to item: Item, _ resources: Void, _ context: RPCContext) async throws(RPCError) -> ItemResult {
    switch try await begin(item, context) {
    case .signature(let call): return try call.performAlone()
    case .complete(let result): return result
    }
  }

  func respond(toChunk items: [Result<Item, RPCError>], _ resources: Void, _ context: RPCContext) async -> [Result<ItemResult, RPCError>] {
    var checked: [Result<CheckedItem<ItemResult>, RPCError>] = []
    var pending: [PendingSignature] = []
    for item in items {
      do throws(RPCError) {
        let item = try await begin(try item.get(), context)
        if case .signature(let call) = item { pending.append(call.work) }
        checked.append(.success(item))
      } catch {
        checked.append(.failure(error))
      }
    }
    PendingSignature.perform(pending)
    return checked.map { item in
      Result { () throws(RPCError) in
        switch try item.get() {
        case .signature(let call): return try call.response()
        case .complete(let result): return result
        }
      }
    }
  }
}
