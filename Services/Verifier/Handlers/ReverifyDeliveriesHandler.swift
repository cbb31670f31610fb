import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import ServiceRuntime

/// `ReverifyDeliveries`: queues rejected deliveries again whose bodies are still stored.
struct ReverifyDeliveriesHandler: RPCHandler {
  typealias Method = VerifierService.ReverifyDeliveries

  /// The maximum number of ids of a request, and of deliveries of a page.
  private static let maxDeliveries = 1000
  private static let kinds = [PostbackKind.skAdNetwork.rawValue, PostbackKind.adAttributionKit.rawValue, NotificationMessage.kind]
  /// The reasons with which ``VerificationWorker`` rejects deliveries.
  private static let reasons: Set<String> = Set(PostbackReason.allCases.map(\.rawValue))
    .union(SignedDataReason.allCases.map(\.rawValue)).union([VerificationWorker.conflict])

  let deliveries: DeliveryQueue

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let selection = try Selection(request)
    var results: [Reverification] = []
    var next: RejectionPosition?
    do throws(QueueError) {
      switch selection {
      case .ids(let ids): results = try await deliveries.reverify(ids)
      case .filter(let filter, let position, let limit):
        (results, next) = try await deliveries.reverify(filter, after: position, limit: limit)
      }
    } catch {
      throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
    return ReverifyDeliveriesResponse(
      deliveries: results.map { ReverifiedDelivery(id: $0.id.description, state: $0.state.rawValue, eventId: $0.eventId) },
      queued: Int32(clamping: results.count { $0.state == .queued }), nextPageToken: next?.text)
  }

  /// The deliveries that a request selects.
  private enum Selection {
    case ids([DeliveryID])
    case filter(RejectionFilter, after: RejectionPosition?, limit: Int)

    init(_ request: Method.Request) throws(RPCError) {
      if request.ids.isEmpty {
        self = try Self.selecting(request)
        return
      }
      for (name, isSet) in [
        ("reason", request.reason != nil), ("kind", request.kind != nil), ("startTime", request.startTime != nil),
        ("endTime", request.endTime != nil), ("maxDeliveries", request.maxDeliveries != nil), ("pageToken", request.pageToken != nil),
      ] where isSet { throw .invalidArgument(field: name, "must not be combined with ids") }
      guard request.ids.count <= maxDeliveries else { throw .invalidArgument(field: "ids", "must have at most \(maxDeliveries) values") }
      var (ids, seen): ([DeliveryID], Set<DeliveryID>) = ([], [])
      for (index, text) in request.ids.enumerated() {
        guard let id = DeliveryID(text) else { throw .invalidArgument(field: "ids[\(index)]", "is not the id of a delivery") }
        if seen.insert(id).inserted { ids.append(id) }
      }
      self = .ids(ids)
    }

    private static func selecting(_ request: Method.Request) throws(RPCError) -> Selection {
      guard request.reason != nil || request.kind != nil || request.startTime != nil || request.endTime != nil else {
        throw .invalidArgument(field: "ids", "is missing, and so are reason, kind, startTime and endTime")
      }
      if let reason = request.reason, !reasons.contains(reason) {
        throw .invalidArgument(field: "reason", "must be one of \(reasons.sorted().joined(separator: ", "))")
      }
      if let kind = request.kind, !kinds.contains(kind) {
        throw .invalidArgument(field: "kind", "must be one of \(kinds.joined(separator: ", "))")
      }
      if let start = request.startTime, let end = request.endTime, start > end {
        throw .invalidArgument(field: "endTime", "is before startTime")
      }
      let limit = request.maxDeliveries ?? 100
      guard (1...Int32(maxDeliveries)).contains(limit) else {
        throw .invalidArgument(field: "maxDeliveries", "must be 1 to \(maxDeliveries)")
      }
      var position: RejectionPosition?
      if let token = request.pageToken {
        position = RejectionPosition(token)
        guard position != nil else { throw .invalidArgument(field: "pageToken", "is not a nextPageToken of this method") }
      }
      return .filter(
        RejectionFilter(
          kind: request.kind, reason: request.reason, start: request.startTime?.millisecondsSince1970 ?? 0,
          end: request.endTime?.millisecondsSince1970), after: position, limit: Int(limit))
    }
  }
}
