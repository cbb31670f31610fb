import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `GetRecovery`: the progress of a recovery.
struct GetRecoveryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetRecovery
  let store: RecoveryStore

  func handle(_ request: GetRecoveryRequest, _ context: RPCContext) async throws(RPCError) -> GetRecoveryResponse {
    GetRecoveryResponse(Recovery(try await store.known(request.recoveryId)))
  }
}

extension RecoveryStore {
  /// Reads the job that a caller names. Throws `NOT_FOUND` if there is none.
  func known(_ id: String?) async throws(RPCError) -> RecoveryJob {
    guard let id, !id.isEmpty else { throw .invalidArgument(field: "recoveryId", "is missing") }
    guard id.utf8.count == 32, id.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) }) else {
      throw .notFound("no such recovery", field: "recoveryId")
    }
    do throws(RedisError) {
      if let job = try await job(id) { return job }
    } catch { throw RPCError(error) }
    throw .notFound("no such recovery", field: "recoveryId")
  }
}
