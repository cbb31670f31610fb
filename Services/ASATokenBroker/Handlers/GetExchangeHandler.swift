import AppleAttribution
import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `GetExchange`: returns the state of a token's exchange, and its record if there is one.
struct GetExchangeHandler: RPCHandler {
  typealias Method = TokenBrokerService.GetExchange

  let reader: ExchangeReader
  let filter: ConsentFilter

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    guard let id = DeliveryID(request.exchangeId ?? "") else {
      throw .invalidArgument(field: "exchangeId", "must be the id of an exchange")
    }
    return GetExchangeResponse(id: id.description, try await reader.exchange(id), filter)
  }
}
