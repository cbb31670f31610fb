/// The status of a subscription (Get All Subscription Statuses, `status`; App Store Server Notifications).
public enum SubscriptionStatus: String, Sendable, Hashable, CaseIterable {
  case active
  /// Paid until the end of the period; renewal is off.
  case activeNotRenewing = "active-not-renewing"
  /// The charge for the next period failed, and access continues.
  case gracePeriod = "grace-period"
  /// The charge for the next period failed, and access has ended. Apple retries the charge.
  case billingRetry = "billing-retry"
  case expired
  /// Refunded, or family sharing ended. Apple's status is 5, or the current transaction has a `revocationDate` (``SubscriptionFold``).
  case revoked
  /// There was no notification after the end of the period. Apple does not have this status.
  case unknownOverdue = "unknown-overdue"

  /// The status for Apple's number, 1 to 5, and the renewal setting; nil for any other number.
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

  /// True if the customer has access, until the end that Apple named (``SubscriptionState/hasAccess(at:silence:)``). Nil if the app's owner
  /// must decide.
  public var hasAccess: Bool? {
    switch self {
    case .active, .activeNotRenewing, .gracePeriod: true
    case .billingRetry, .expired, .revoked: false
    case .unknownOverdue: nil
    }
  }
}
