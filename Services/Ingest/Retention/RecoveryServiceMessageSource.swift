import AppStore
import AttributionClient
import AttributionProtocol

/// Lists the approved messages by an RPC to notification-recovery, which requests the list from Apple.
struct RecoveryServiceMessageSource: RetentionMessageSource {
  /// Longer than usual, because notification-recovery may have to wait for Apple's rate limit.
  private static let timeout: Duration = .seconds(20)
  private static let approved = "APPROVED"

  let recovery: RPCClient

  func messages(of audience: RetentionAudience) async throws(RPCError) -> RetentionMessageList {
    let response = try await recovery.call(
      RetentionService.ListRetentionMessages.self,
      ListRetentionMessagesRequest(bundleId: audience.bundleId, environment: audience.environment), timeout: Self.timeout)
    let approved = response.messages.filter { $0.messageState == Self.approved && $0.unapprovedImageIdentifiers.isEmpty }
    return RetentionMessageList(
      approved: Set(approved.map { $0.messageIdentifier.lowercased() }),
      withImage: Set(approved.filter { !$0.imageIdentifiers.isEmpty }.map { $0.messageIdentifier.lowercased() }))
  }
}
