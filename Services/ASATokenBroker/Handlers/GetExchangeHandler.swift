import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `GetExchange`: how the exchange of a token stands.
struct GetExchangeHandler: RPCHandler {
  typealias Method = TokenBrokerService.GetExchange

  let reader: ExchangeReader

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    guard let id = DeliveryID(request.exchangeId ?? "") else {
      throw .invalidArgument(field: "exchangeId", "must be the id of an exchange")
    }
    return GetExchangeResponse(id: id.description, try await reader.exchange(id))
  }
}
