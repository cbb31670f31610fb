/// Where a subscription stands (Get All Subscription Statuses, `status`; App Store Server Notifications).
public enum SubscriptionStatus: String, Sendable, Hashable, CaseIterable {
  case active
  /// Paid for until its end, and not to be renewed.
  case activeNotRenewing = "active-not-renewing"
  /// The charge failed and service goes on.
  case gracePeriod = "grace-period"
  /// The charge failed and service has stopped; Apple goes on trying.
  case billingRetry = "billing-retry"
  case expired
  /// Refunded, or family sharing ended.
  case revoked
  /// Nothing was heard past its end (ours).
  case unknownOverdue = "unknown-overdue"

  /// From Apple's number, 1 to 5, and whether it will be renewed; nil for any other number.
  public init?(appleStatus: Int64, autoRenew: Bool?) {
    switch appleStatus {
    case 1: self = autoRenew == false ? .activeNotRenewing : .active
    case 2: self = .expired
    case 3: self = .billingRetry
    case 4: self = .gracePeriod
    case 5: self = .revoked
    default: return nil
    }
  }

  /// Whether the customer has what was paid for; nil when that is for the app's owner to say.
  public var hasAccess: Bool? {
    switch self {
    case .active, .activeNotRenewing, .gracePeriod: true
    case .billingRetry, .expired, .revoked: false
    case .unknownOverdue: nil
    }
  }
}
