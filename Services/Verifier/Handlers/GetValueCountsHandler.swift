import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `GetValueCounts`: how often values occurred in verified deliveries of the last hours, such as conversion values. `counted` in
/// `VerificationWorker+CountedValues.swift` decides which values of a postback are counted.
struct GetValueCountsHandler: RPCHandler {
  typealias Method = VerifierService.GetValueCounts

  let counts: DeliveryCounts

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let hours = request.hours ?? 24
    guard (1...Int32(CountPeriod.hour.storedPeriods)).contains(hours) else {
      throw .invalidArgument(field: "hours", "must be 1 to \(CountPeriod.hour.storedPeriods)")
    }
    let values: [CountedValue: Int64]
    do throws(QueueError) { values = try await counts.values(lastHours: Int(hours)) } catch {
      throw .unavailable("the counts cannot be read now", reason: "STORE_UNAVAILABLE")
    }
    var response = GetValueCountsResponse()
    for (value, count) in values {
      switch value {
      case .fine(let app, let value):
        response.conversions.append(ConversionCount(appAppleId: app, fineValue: Int32(clamping: value), count: count))
      case .coarse(let app, let value): response.conversions.append(ConversionCount(appAppleId: app, coarseValue: value, count: count))
      case .noConversion(let app): response.conversions.append(ConversionCount(appAppleId: app, count: count))
      case .source(let network, let digits):
        response.sources.append(SourceCount(adNetworkId: network, sourceIdentifier: digits, count: count))
      case .notification(let bundleId, let type):
        response.notifications.append(NotificationCount(bundleId: bundleId, notificationType: type, count: count))
      case .other: response.others = count
      }
    }
    // Dictionaries have no order, so the response is sorted: the same counts give the same response.
    response.conversions.sort { Self.order($0) < Self.order($1) }
    response.sources.sort { ($0.adNetworkId, $0.sourceIdentifier) < ($1.adNetworkId, $1.sourceIdentifier) }
    response.notifications.sort { ($0.bundleId, $0.notificationType) < ($1.bundleId, $1.notificationType) }
    return response
  }

  private static func order(_ count: ConversionCount) -> (Int64, Int32, String) {
    (count.appAppleId ?? 0, count.fineValue ?? .max, count.coarseValue ?? "")
  }
}
