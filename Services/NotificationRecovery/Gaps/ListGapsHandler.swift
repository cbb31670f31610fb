import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `ListGaps`: the gaps in the histories of an app's subscriptions, newest first.
struct ListGapsHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ListGaps
  let store: GapStore
  let configuration: DeploymentConfiguration

  private static let states = ["suspected", "recovered", "unrecoverable"]

  func handle(_ request: ListGapsRequest, _ context: RPCContext) async throws(RPCError) -> ListGapsResponse {
    guard let bundleId = request.bundleId, !bundleId.isEmpty else { throw .invalidArgument(field: "bundleId", "is missing") }
    guard configuration.app(bundleId) != nil else { throw .notFound("no app with this bundle id is configured", field: "bundleId") }
    let limit = Int(request.maxGaps ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxGaps", "must be 1 to 1000") }
    if let state = request.state, !Self.states.contains(state) {
      throw .invalidArgument(field: "state", "must be one of \(Self.states.joined(separator: ", "))")
    }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: bundleId, state: request.state, limit: limit, after: token)
      return ListGapsResponse(gaps: page.gaps.map { Gap($0) }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}

extension Gap {
  init(_ record: GapRecord) {
    let report = record.report
    self.init()
    originalTransactionId = report.originalTransactionId
    environment = report.environment
    bundleId = report.bundleId ?? ""
    gapId = report.gap.id
    rule = report.gap.rules[0].rawValue
    rules = report.gap.rules.map(\.rawValue)
    missing = report.gap.missing
    after = report.gap.after.map { Timestamp(millisecondsSince1970: $0) }
    before = Timestamp(millisecondsSince1970: report.gap.before)
    shownBy = report.gap.shownBy
    suspectedAt = Timestamp(millisecondsSince1970: record.suspectedAt)
    state = record.state
    notifications = record.notifications
    repairedBy = record.repairedBy
    observedState = record.observedState
    completedAt = record.completedAt.map { Timestamp(millisecondsSince1970: $0) }
    lastError = record.error
  }
}
