import AppStore
import AttributionQueue
import Testing

@Suite("How long notifications are remembered")
struct NotificationKeyRetentionTests {
  private let day: Int64 = 86_400_000

  @Test("by default, natural keys of notifications outlive Apple's history, so that a recovered notification is no second event")
  func keys() {
    let kept = QueueConfiguration().notificationGeneration
    #expect(kept == .seconds(200 * 86_400))
    // The age of the oldest notification that Apple is asked for.
    let oldest = { (server: AppStoreServer) in -NotificationRetention.startWithMargin(of: server, now: 0) }
    #expect(oldest(.production) == 180 * day - NotificationRetention.margin)
    #expect(oldest(.sandbox) == 30 * day - NotificationRetention.margin)
    // A retry of Apple's may be a week late, and the clocks may differ.
    for server in AppStoreServer.allCases { #expect(kept >= .milliseconds(oldest(server) + 10 * day)) }
  }
}
