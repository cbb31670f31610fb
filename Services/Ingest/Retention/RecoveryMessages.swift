import AttributionClient
import AttributionProtocol

/// Requests the list from notification-recovery, which requests it from Apple.
struct RecoveryMessages: RetentionMessageSource {
  private static let timeout: Duration = .seconds(20)
  private static let approved = "APPROVED"

  let recovery: RPCClient

  func approvedMessages(of audience: RetentionAudience) async throws(RPCError) -> Set<String> {
    let answer = try await recovery.call(
      RetentionService.ListRetentionMessages.self,
      ListRetentionMessagesRequest(bundleId: audience.bundleId, environment: audience.environment), timeout: Self.timeout)
    return Set(answer.messages.filter { $0.messageState == Self.approved }.map { $0.messageIdentifier.lowercased() })
  }
}
