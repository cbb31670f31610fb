public import WireJSON

/// The history of a purchase that does not renew (``purchaseId(_:)``): its known steps in Apple's order, and the state that results from
/// them (``OneTimePurchaseState``). There are no gaps: each step has all facts of its transaction, so a missing earlier step has no effect.
///
/// The state depends only on the set of steps, and not on the order or number of their arrivals.
public struct OneTimePurchaseHistory: Sendable, Hashable {
  /// The greatest number of steps that are kept. Older ones are removed.
  static let maxSteps = 32

  /// The types of products that are bought once (JWSTransactionDecodedPayload, `type`).
  private static let productTypes: Set<String> = ["Consumable", "Non-Consumable", "Non-Renewing Subscription"]

  /// The steps in Apple's order (``LifecycleStep``'s `<`).
  public private(set) var steps: [LifecycleStep] = []
  /// The UUIDs of steps that arrived after a newer one.
  public private(set) var lateSteps: Set<String> = []

  public init() {}

  /// The step of a verified notification; nil if the notification is not about a one-time purchase. A step whose transaction does not name
  /// its type (``namesType(_:)``) counts only if the history of its purchase is known.
  public static func step(notification: JSONObject, transactionInfo: JSONObject?) -> LifecycleStep? {
    guard let transactionInfo, mayBeOneTime(transactionInfo) else { return nil }
    return LifecycleStep(notification: notification, transactionInfo: transactionInfo, renewalInfo: nil)
  }

  /// The step of a transaction in a response of the App Store Server API; nil if the transaction is not a one-time purchase. As for a
  /// notification, the type may be missing.
  public static func step(observed transactionInfo: JSONObject) -> LifecycleStep? {
    mayBeOneTime(transactionInfo) ? LifecycleStep(observedTransaction: transactionInfo) : nil
  }

  /// The id under which the history of a transaction is kept. A non-consumable that is restored or bought again has further transactions,
  /// which name the first one as their original, and all of them are one purchase. Any other transaction is a purchase of its own.
  ///
  /// Nil if the type is missing, or the original of a non-consumable: then what is stored about the transaction tells its purchase.
  public static func purchaseId(_ transactionInfo: JSONObject) -> String? {
    guard let type = transactionInfo["type"]?.stringValue else { return nil }
    return transactionInfo[type == "Non-Consumable" ? "originalTransactionId" : "transactionId"]?.stringValue
  }

  /// True if the transaction names the type of its product.
  public static func namesType(_ transactionInfo: JSONObject) -> Bool { transactionInfo["type"]?.stringValue != nil }

  private static func mayBeOneTime(_ transactionInfo: JSONObject) -> Bool {
    transactionInfo["type"]?.stringValue.map(productTypes.contains) ?? true
  }

  /// Adds a step at its position in Apple's order.
  ///
  /// An observation replaces an earlier one of the same transaction. It does not begin a history unless it shows a revocation: a
  /// migration of receipts observes all purchases of a customer, and the history of a purchase that was never refunded is of no use.
  public mutating func insert(_ step: LifecycleStep) -> SubscriptionHistory.Arrival {
    if steps.contains(where: { $0.notificationUUID == step.notificationUUID }) {
      return .duplicate(late: lateSteps.contains(step.notificationUUID))
    }
    if step.isObservation {
      if steps.isEmpty, step.transaction?.revocationDate == nil { return .beforeHistory }
      func isSame(_ other: LifecycleStep) -> Bool {
        other.isObservation && other.transaction?.transactionId == step.transaction?.transactionId
      }
      if steps.contains(where: { isSame($0) && step < $0 }) { return .beforeHistory }
      steps.removeAll(where: isSame)
    }
    let index = steps.firstIndex { step < $0 } ?? steps.count
    steps.insert(Self.reduced(step), at: index)
    let isLate = index < steps.count - 1
    if isLate { lateSteps.insert(step.notificationUUID) }
    if steps.count > Self.maxSteps { steps.removeFirst() }
    lateSteps.formIntersection(steps.map(\.notificationUUID))
    return isLate ? .late : .inOrder
  }

  /// The step without the facts that the state does not need. It saves memory, because there may be millions of histories.
  private static func reduced(_ step: LifecycleStep) -> LifecycleStep {
    guard let facts = step.transaction else { return step }
    return step.with(
      LifecycleStep.Transaction(
        transactionId: facts.transactionId, productId: facts.productId, purchaseDate: facts.purchaseDate,
        revocationDate: facts.revocationDate, revocationType: facts.revocationType))
  }

  /// The state after all steps; nil without any step.
  public var state: OneTimePurchaseState? { Self.state(after: steps) }

  /// The state after the given steps; nil if there are none.
  public static func state(after steps: [LifecycleStep]) -> OneTimePurchaseState? {
    steps.reduce(nil) { OneTimePurchaseState.next($0, $1) }
  }

  /// The status after each step.
  public var statuses: [OneTimePurchaseStatus?] { steps.indices.map { Self.state(after: Array(steps[...$0]))?.status } }

  // MARK: Lifetime

  /// How long the history is kept after its last change, days.
  ///
  /// A notification can arrive only while Apple's history contains it (180 days, 30 in the sandbox), so after that time none can arrive
  /// late. If only the purchase is known, the history has no effect on later steps, because any other step is newer and has all facts. Such
  /// a history is kept only for queries, and for a shorter time.
  public func lifetimeDays(environment: String) -> Int64 {
    if steps.count == 1, steps[0].type == "ONE_TIME_CHARGE" { return 30 }
    return Self.longestLifetimeDays(environment: environment)
  }

  /// The longest time for which a history is kept after a change, days.
  public static func longestLifetimeDays(environment: String) -> Int64 { environment == "Production" ? 200 : 40 }
}

extension OneTimePurchaseHistory {
  /// The stored format.
  public var stored: [UInt8] {
    var object: JSONObject = ["steps": .array(steps.map { .object($0.json) })]
    if !lateSteps.isEmpty { object["late"] = .array(lateSteps.sorted().map { .string($0) }) }
    return JSONValue.object(object).serialized
  }

  /// Parses the stored format; nil if it is invalid.
  public init?(stored bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue, let steps = object["steps"]?.arrayValue else { return nil }
    for value in steps {
      guard let step = value.objectValue.flatMap({ LifecycleStep(json: $0) }) else { return nil }
      self.steps.append(step)
    }
    guard self.steps == self.steps.sorted() else { return nil }
    lateSteps = Set(object["late"]?.arrayValue?.compactMap(\.stringValue) ?? [])
  }
}
