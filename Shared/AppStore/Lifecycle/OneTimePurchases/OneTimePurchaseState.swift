/// The state of a one-time purchase after some of its steps. Times are milliseconds since 1970.
public struct OneTimePurchaseState: Sendable, Hashable {
  public let status: OneTimePurchaseStatus
  /// The start of this status: Apple's date of the purchase or of the revocation if it is known, otherwise the signing time of the step.
  public let since: Int64
  /// The newest facts of the transaction, without a revocation after a reversed refund.
  public let facts: LifecycleStep.Transaction
  /// The time at which Apple signed these facts.
  let factsSignedDate: Int64

  /// True if the customer has the purchase. Nil after a refund of a part of its price: then the app's owner must decide.
  public var hasAccess: Bool? {
    switch status {
    case .purchased: true
    case .refunded: facts.revocationType == "REFUND_PRORATED" ? nil : false
    case .revoked: false
    }
  }

  /// The state after a step; `last` for a step without a transaction. The facts that Apple signed last decide, even if their notification
  /// was signed earlier. If facts were signed at the same time, those of the later step decide.
  static func next(_ last: OneTimePurchaseState?, _ step: LifecycleStep) -> OneTimePurchaseState? {
    guard var facts = step.transaction else { return last }
    if let last, step.innerSignedDate < last.factsSignedDate { return last }
    if step.type == "REFUND_REVERSED" {
      facts.revocationDate = nil
      facts.revocationType = nil
    }
    let status = newStatus(after: step.type, facts, last)
    var since = start(of: status, facts, step, isFirst: last == nil)
    if let last, last.status == status { since = last.since }
    return OneTimePurchaseState(status: status, since: since, facts: facts, factsSignedDate: step.innerSignedDate)
  }

  private static func newStatus(
    after type: String, _ facts: LifecycleStep.Transaction, _ last: OneTimePurchaseState?
  ) -> OneTimePurchaseStatus {
    switch type {
    case "REFUND": return .refunded
    case "REVOKE": return .revoked
    case "REFUND_REVERSED": return .purchased
    default:
      // Other types, such as CONSUMPTION_REQUEST and REFUND_DECLINED, change nothing. But they may show a revocation that happened before.
      if let last, last.facts.revocationDate == facts.revocationDate { return last.status }
      guard facts.revocationDate != nil else { return .purchased }
      return facts.revocationType == "FAMILY_REVOKE" || facts.revocationType == "ASSIGNMENT_REVOKE" ? .revoked : .refunded
    }
  }

  /// The start of a status that begins with the step.
  private static func start(
    of status: OneTimePurchaseStatus, _ facts: LifecycleStep.Transaction, _ step: LifecycleStep, isFirst: Bool
  ) -> Int64 {
    switch status {
    case .purchased: isFirst ? facts.purchaseDate ?? step.signedDate : step.signedDate
    case .refunded, .revoked: facts.revocationDate ?? step.signedDate
    }
  }
}
