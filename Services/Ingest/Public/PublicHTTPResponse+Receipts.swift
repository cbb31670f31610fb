import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

extension PublicHTTPResponse {
  /// The receipt for a delivery that is stored as durably as `queues.durability` requires: its id, and whether it repeats an earlier one.
  static func receipt(_ outcome: AcceptOutcome, status: Int = 200) -> PublicHTTPResponse {
    json(
      status,
      ["id": .string(outcome.id.description), "status": .string(outcome.isDuplicate ? "duplicate" : "accepted")])
  }

  static func json(_ status: Int, _ object: JSONObject) -> PublicHTTPResponse {
    PublicHTTPResponse(status: status, body: JSONValue.object(object).serialized)
  }

  /// An error in the format of RPC errors.
  ///
  /// - Parameter status: the status of the response; nil for that of the error's code.
  static func failure(_ error: RPCError, status: Int? = nil) -> PublicHTTPResponse {
    var response = PublicHTTPResponse(status: status ?? error.code.httpStatus, body: error.json)
    if let seconds = error.retryAfterSeconds { response.headers.append(("Retry-After", String(max(1, seconds)))) }
    return response
  }

  /// The response if the queue did not accept the delivery, or not as durably as configured in time (``Durability``). The sender must repeat it.
  ///
  /// - Parameter retryStatus: ``PublicRoute/retryStatus`` of the route; nil for 503.
  static func notAccepted(_ error: QueueError, retryStatus: Int? = nil) -> PublicHTTPResponse {
    let delay: Duration = if case .backlogFull = error { .seconds(30) } else { .seconds(5) }
    return failure(
      .unavailable("the delivery could not be stored; send it again", reason: "NOT_STORED", retryAfter: delay),
      status: retryStatus)
  }
}
