import AppStore
import ServiceRuntime

/// Declares and counts the metrics of notification-recovery.
struct RecoveryMetrics: Sendable {
  private let registry: MetricsRegistry

  init(_ registry: MetricsRegistry) {
    self.registry = registry
    registry.counter(
      "attribution_recovery_notifications_total", help: "Notifications read from Apple's notification history.", labels: ["outcome"])
    registry.counter("attribution_recovery_jobs_total", help: "Recoveries that have ended, by final state.", labels: ["state"])
    registry.counter("attribution_recovery_gaps_total", help: "Gaps in subscriptions' histories, by final state.", labels: ["state"])
    registry.counter("attribution_recovery_receipts_total", help: "Migrated receipts, by outcome.", labels: ["outcome"])
    registry.counter(
      "attribution_external_purchase_reports_total", help: "Reports of external purchases, by Apple's decision.", labels: ["state"])
    registry.counter(
      "attribution_app_store_waits_total", help: "Requests to the App Store Server API that had to wait, by reason.", labels: ["reason"])
    registry.counter("attribution_recovery_outages_total", help: "Outages that started a recovery.", labels: ["evidence"])
    registry.counter(
      "attribution_app_store_errors_total", help: "Errors of the App Store Server API, by how they are handled.", labels: ["class"])
  }

  func countNotification(_ outcome: RecoveredNotification.AcceptResult) {
    registry.add("attribution_recovery_notifications_total", 1, [outcome.label])
  }
  func countRecovery(_ state: RecoveryJob.State) { registry.add("attribution_recovery_jobs_total", 1, [state.rawValue]) }
  func countWait(_ reason: String) { registry.add("attribution_app_store_waits_total", 1, [reason]) }
  func countOutage(_ evidence: OutageRule.Evidence) { registry.add("attribution_recovery_outages_total", 1, [evidence.rawValue]) }
  func countGap(_ state: String) { registry.add("attribution_recovery_gaps_total", 1, [state]) }
  func countReceipt(_ outcome: String) { registry.add("attribution_recovery_receipts_total", 1, [outcome]) }
  func countReport(_ state: String) { registry.add("attribution_external_purchase_reports_total", 1, [state]) }
  func countError(_ classification: String) { registry.add("attribution_app_store_errors_total", 1, [classification]) }
}
