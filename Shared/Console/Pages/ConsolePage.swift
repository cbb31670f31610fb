import AttributionProtocol

/// The pages, in the order of their links. Each has a model in this folder and a template in `Assets/Pages`.
enum ConsolePage: String, CaseIterable, Sendable {
  case overview, deliveries, values, queues, deadLetters, subscriptions, appStore, recovery, keys

  /// The path after the console's base path.
  var path: String {
    switch self {
    case .overview: ""
    case .deliveries: "/deliveries"
    case .values: "/values"
    case .queues: "/queues"
    case .deadLetters: "/dead-letters"
    case .subscriptions: "/subscriptions"
    case .appStore: "/app-store"
    case .recovery: "/recovery"
    case .keys: "/keys"
    }
  }

  var title: String {
    switch self {
    case .overview: "Overview"
    case .deliveries: "Deliveries"
    case .values: "Values"
    case .queues: "Queues"
    case .deadLetters: "Dead letters"
    case .subscriptions: "Feed"
    case .appStore: "App Store"
    case .recovery: "Recovery"
    case .keys: "Keys"
    }
  }

  /// The methods whose responses the page shows. A user who may call none of them gets no link to the page.
  var methods: [any RPCMethod.Type] {
    switch self {
    case .overview: Self.allCases.filter { $0 != .overview }.flatMap(\.methods)
    case .deliveries: [VerifierService.GetDeliveryCounts.self]
    case .values: [VerifierService.GetValueCounts.self]
    case .queues: [QueuesService.ListQueues.self, QueuesService.GetQueueHistory.self]
    case .deadLetters: [QueuesService.ListDeadLetters.self]
    case .subscriptions: [EventsService.ListSubscriptions.self]
    case .appStore:
      [VerifierService.GetSubscriptionState.self, VerifierService.GetValueCounts.self, NotificationRecoveryService.ListGaps.self]
    case .recovery: [NotificationRecoveryService.ListRecoveries.self, NotificationRecoveryService.ListMigrations.self]
    case .keys: [SignerService.ListSigningKeys.self]
    }
  }
}

/// The values of the header and footer that all pages have.
struct Layout {
  struct Link {
    let title: String
    let href: String
    let isCurrent: Bool
  }

  let base: String
  let title: String
  let pages: [Link]
  let caller: String
  /// True if there is a session to end.
  let canSignOut: Bool
  let formToken: String
  let version: String
  let now: Moment
  /// The time after which the page is reloaded, seconds.
  let refresh = 5
}

/// A time range for a page.
enum TimeRange: String, CaseIterable {
  case hour = "1h"
  case sixHours = "6h"
  case day = "24h"
  case week = "7d"

  var name: String {
    switch self {
    case .hour: "1 hour"
    case .sixHours: "6 hours"
    case .day: "24 hours"
    case .week: "7 days"
    }
  }

  var request: GetDeliveryCountsRequest {
    switch self {
    case .hour: GetDeliveryCountsRequest(period: "minute", periods: 60)
    case .sixHours: GetDeliveryCountsRequest(period: "minute", periods: 360)
    case .day: GetDeliveryCountsRequest(period: "hour", periods: 24)
    case .week: GetDeliveryCountsRequest(period: "hour", periods: 168)
    }
  }

  /// The number of periods that one column of a plot sums up, so that columns are not too narrow.
  var periodsPerColumn: Int {
    switch self {
    case .hour, .day: 1
    case .sixHours: 5
    case .week: 3
    }
  }

  /// The unit of a column's height.
  var unit: String {
    switch self {
    case .hour: "a minute"
    case .sixHours: "in 5 minutes"
    case .day: "an hour"
    case .week: "in 3 hours"
    }
  }

  /// Links to the same page with each range.
  ///
  /// - Parameter more: further fields of the query, each with `&` before it.
  static func links(_ path: String, current: TimeRange, among ranges: [TimeRange] = allCases, more: String = "") -> [Layout.Link] {
    ranges.map { Layout.Link(title: $0.name, href: "\(path)?range=\($0.rawValue)\(more)", isCurrent: $0 == current) }
  }
}

/// A figure at the top of a page.
struct Figure {
  let label: String
  let value: String
  let note: String
  /// The CSS class: `good`, `warn`, `bad` or empty.
  let style: String
  let href: String
  let hasLink: Bool

  init(_ label: String, _ value: String, note: String = "", style: String = "", href: String? = nil) {
    self.label = label
    self.value = value
    self.note = note
    self.style = style
    self.href = href ?? ""
    hasLink = href != nil
  }
}
