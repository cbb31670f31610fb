/// The state of a one-time purchase after some of its steps. Times are milliseconds since 1970.
public struct OneTimePurchaseState: Sendable, Hashable {
  public let status: OneTimePurchaseStatus
  /// The start of this status: Apple's date of the purchase or of the revocation if it is known, otherwise the signing time of the step.
  public let since: Int64
  /// The newest facts of the transaction that led to this status, without a revocation after a reversed refund.
  public let facts: LifecycleStep.Transaction
  /// The times at which Apple signed the newest facts of each of the purchase's transactions, by transaction id.
  let factsSignedDates: [String: Int64]

  /// True if the customer has the purchase. Nil after a refund of a part of its price: then the app's owner must decide.
  public var hasAccess: Bool? {
    switch status {
    case .purchased: true
    case .refunded: facts.revocationType == "REFUND_PRORATED" ? nil : false
    case .revoked: false
    }
  }

  /// The state after a step; `last` for a step without a transaction. Of the facts of one transaction, those that Apple signed last decide,
  /// even if their notification was signed earlier. If facts were signed at the same time, those of the later step decide.
  static func next(_ last: OneTimePurchaseState?, _ step: LifecycleStep) -> OneTimePurchaseState? {
    guard var facts = step.transaction else { return last }
    if let known = last?.factsSignedDates[facts.transactionId], step.innerSignedDate < known { return last }
    var dates = last?.factsSignedDates ?? [:]
    dates[facts.transactionId] = step.innerSignedDate
    if let last, isBesideRevocation(facts, step.type, last) || isBeforePurchase(facts, step.type, last) {
      return OneTimePurchaseState(status: last.status, since: last.since, facts: last.facts, factsSignedDates: dates)
    }
    if step.type == "REFUND_REVERSED" {
      facts.revocationDate = nil
      facts.revocationType = nil
    }
    let status = newStatus(after: step.type, facts, last)
    if let last, isKnownRevocation(facts, step.type, last) { facts.revocationType = last.facts.revocationType }
    var since = start(of: status, facts, step, isFirst: last == nil)
    if let last, last.status == status { since = last.since }
    return OneTimePurchaseState(status: status, since: since, facts: facts, factsSignedDates: dates)
  }

  /// True if the purchase stays revoked, because another of its transactions is. Only a transaction that was bought later, or is announced
  /// later, ends that.
  private static func isBesideRevocation(_ facts: LifecycleStep.Transaction, _ type: String, _ last: OneTimePurchaseState) -> Bool {
    guard last.status != .purchased, !decides(type), type != "ONE_TIME_CHARGE", facts.revocationDate == nil,
      facts.transactionId != last.facts.transactionId
    else { return false }
    return facts.purchaseDate.map { $0 <= last.facts.revocationDate ?? last.since } ?? true
  }

  /// True if the customer bought the purchase again since the transaction was revoked, so that its revocation does not count any more.
  private static func isBeforePurchase(_ facts: LifecycleStep.Transaction, _ type: String, _ last: OneTimePurchaseState) -> Bool {
    guard last.status == .purchased, !decides(type), facts.transactionId != last.facts.transactionId, let end = facts.revocationDate,
      let start = last.facts.purchaseDate
    else { return false }
    return end <= start
  }

  /// True if the facts show a revocation, and its kind is known only from an earlier step.
  private static func isKnownRevocation(_ facts: LifecycleStep.Transaction, _ type: String, _ last: OneTimePurchaseState) -> Bool {
    !decides(type) && facts.revocationDate != nil && facts.revocationType == nil && last.status != .purchased
  }

  /// True if the type of a notification decides the status, whatever its facts are.
  private static func decides(_ type: String) -> Bool { ["REFUND", "REVOKE", "REFUND_REVERSED"].contains(type) }

  private static func newStatus(
    after type: String, _ facts: LifecycleStep.Transaction, _ last: OneTimePurchaseState?
  ) -> OneTimePurchaseStatus {
    switch type {
    case "REFUND": return .refunded
    case "REVOKE": return .revoked
    case "REFUND_REVERSED": return .purchased
    default:
      // Other types, such as CONSUMPTION_REQUEST and REFUND_DECLINED, change nothing. But they may show a revocation that happened before.
      if let last, isKnownRevocation(facts, type, last) { return last.status }
      if let last, last.facts.transactionId == facts.transactionId, last.facts.revocationDate == facts.revocationDate { return last.status }
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
