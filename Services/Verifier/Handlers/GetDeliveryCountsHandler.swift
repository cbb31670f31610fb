import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `GetDeliveryCounts`: the numbers of deliveries by outcome, for each of the last minutes or hours.
struct GetDeliveryCountsHandler: RPCHandler {
  typealias Method = VerifierService.GetDeliveryCounts

  let counts: DeliveryCounts

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    guard let period = CountPeriod(rawValue: request.period ?? CountPeriod.minute.rawValue) else {
      throw .invalidArgument(field: "period", "must be minute or hour")
    }
    let count = request.periods ?? (period == .minute ? 60 : 24)
    guard (1...Int32(period.storedPeriods)).contains(count) else {
      throw .invalidArgument(field: "periods", "must be 1 to \(period.storedPeriods)")
    }
    let periods: [DeliveryCounts.Period]
    do throws(QueueError) { periods = try await counts.outcomes(period, last: Int(count)) } catch {
      throw .unavailable("the counts cannot be read now", reason: "STORE_UNAVAILABLE")
    }
    return GetDeliveryCountsResponse(
      periods: periods.map { period in
        DeliveryPeriod(
          start: Timestamp(millisecondsSince1970: period.start),
          counts: period.outcomes.sorted { Self.order($0.key) < Self.order($1.key) }.map { end, count in
            DeliveryCount(kind: end.kind, verdict: end.verdict, reason: end.reason, count: count)
          })
      })
  }

  private static func order(_ end: CountedOutcome) -> (String, String, String) { (end.kind, end.verdict, end.reason ?? "") }
}
