import WireJSON

/// The history of one subscription: its known steps in Apple's order, and the state and the gaps that result from them.
///
/// ``insert(_:)`` adds a step at its position by time of signing. ``state`` and ``gaps`` are computed from all steps
/// (``SubscriptionFold``), so they depend only on the set of steps, and not on the order or number of their arrivals.
/// ``silence(at:after:)`` is the gap that no step shows. Verifier stores the history as ``stored`` and reports gaps
/// (`SubscriptionLifecycle`).
///
/// ```swift
/// var history = SubscriptionHistory(environment: "Production", originalTransactionId: "2000000123456789")
/// if history.insert(step).isLate { … }  // a newer step arrived before this one
/// let status = history.state?.status(at: now)
/// for gap in history.gaps { … }
/// ```
public struct SubscriptionHistory: Sendable, Hashable {
  /// The result of adding a step.
  public enum Arrival: Sendable, Hashable {
    /// The step is the newest one.
    case inOrder
    /// A newer step arrived before this one.
    case late
    /// The step is known. `late` is true if a newer step had arrived before its first arrival.
    case duplicate(late: Bool)
    /// The step is older than the steps that are kept individually, so it changes nothing.
    case beforeHistory

    /// True if a newer step arrived before this one.
    public var isLate: Bool {
      switch self {
      case .inOrder, .duplicate(late: false): false
      case .late, .duplicate(late: true), .beforeHistory: true
      }
    }
  }

  /// The greatest number of steps that are kept individually. Of older ones only the resulting state is kept.
  public static let maxSteps = 200

  public let environment: String
  public let originalTransactionId: String
  /// The steps in Apple's order (``LifecycleStep``'s `<`).
  public private(set) var steps: [LifecycleStep] = []
  /// The UUIDs of steps that arrived after a newer one.
  public private(set) var lateSteps: Set<String> = []
  /// The ids of gaps that were looked up and cannot be closed. They are not reported again.
  public private(set) var settledGaps: Set<String> = []
  /// The state after the steps that are no longer kept individually; nil if all steps are kept.
  private var base: SubscriptionState?
  /// The number of steps that are no longer kept individually.
  public private(set) var compactedSteps = 0
  /// The app's bundle id; nil until a step names it.
  public var bundleId: String?
  /// The original transaction ids under which the subscription continued after a migration. The values are the signing times of the
  /// earliest steps under these ids that name this one as their previous id, milliseconds since 1970.
  public private(set) var continuations: [String: Int64] = [:]
  /// The state under the previous original transaction id; nil if there is no known one.
  public private(set) var inheritance: SubscriptionInheritance?

  public init(environment: String, originalTransactionId: String) {
    self.environment = environment
    self.originalTransactionId = originalTransactionId
  }

  /// True if a verified notification is about a subscription. Only those have renewal information and a status (responseBodyV2DecodedPayload,
  /// data), so either tells the kind of a transaction that does not name its type.
  public static func isAboutSubscription(_ notification: JSONObject, transactionInfo: JSONObject?, renewalInfo: JSONObject?) -> Bool {
    if renewalInfo != nil { return true }
    guard let transactionInfo else { return false }
    guard let type = transactionInfo["type"]?.stringValue else { return notification["data"]?["status"]?.int64Value != nil }
    return type == "Auto-Renewable Subscription"
  }

  /// The id of a subscription's history. If neither JWS names the original transaction, it is the transaction's own id, which is the original
  /// one in the first period.
  public static func originalTransactionId(transactionInfo: JSONObject?, renewalInfo: JSONObject?) -> String? {
    [transactionInfo, renewalInfo].lazy.compactMap { $0?["originalTransactionId"]?.stringValue }.first
      ?? transactionInfo?["transactionId"]?.stringValue
  }

  /// Adds a step at its position in Apple's order.
  public mutating func insert(_ step: LifecycleStep) -> Arrival {
    if steps.contains(where: { $0.notificationUUID == step.notificationUUID }) {
      return .duplicate(late: lateSteps.contains(step.notificationUUID))
    }
    if let base, step.signedDate <= base.lastSignedDate { return .beforeHistory }
    let index = steps.firstIndex { step < $0 } ?? steps.count
    steps.insert(step, at: index)
    // After a migration, newer steps may have arrived under the next id.
    let isLate = index < steps.count - 1 || continuation.map { step.signedDate < $0.at } ?? false
    if isLate { lateSteps.insert(step.notificationUUID) }
    compact()
    return isLate ? .late : .inOrder
  }

  /// Records that a gap cannot be closed, so that it is not reported again.
  public mutating func settle(_ gap: SubscriptionGap) { settledGaps.insert(gap.id) }

  // MARK: Migration

  /// The original transaction id under which the subscription continues, and the time of the migration; nil if it was not migrated.
  public var continuation: (originalTransactionId: String, at: Int64)? {
    continuations.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Records that the subscription continues under another id. Returns the state with which the history of that id begins; nil if the id is
  /// this one, the previous one, or of another app.
  public mutating func recordContinuation(as id: String, at date: Int64, bundleId: String?) -> SubscriptionInheritance? {
    guard id != originalTransactionId, id != inheritance?.originalTransactionId, date > .min else { return nil }
    if let known = self.bundleId, let other = bundleId, known != other { return nil }
    continuations[id] = min(continuations[id] ?? date, date)
    if self.bundleId == nil { self.bundleId = bundleId }
    return inheritance(of: id)
  }

  /// The state with which the history of the given id begins; nil if that id is not a continuation of this one.
  public func inheritance(of id: String) -> SubscriptionInheritance? {
    guard let date = continuations[id] else { return nil }
    let lastState = outcomes.last { $0.state.lastSignedDate <= date }?.state ?? startState
    return SubscriptionInheritance(
      originalTransactionId: originalTransactionId, at: date, state: lastState,
      steps: compactedSteps + steps.count + (inheritance?.steps ?? 0))
  }

  /// Stores the state under the previous id, with which this history begins. A state that is stored already is replaced only by a newer one
  /// of the same id (``SubscriptionInheritance/isNewer(than:)``).
  public mutating func begin(with inherited: SubscriptionInheritance) {
    guard inherited.originalTransactionId != originalTransactionId else { return }
    if let known = inheritance {
      guard known.originalTransactionId == inherited.originalTransactionId, inherited.isNewer(than: known) else { return }
    }
    inheritance = inherited
  }

  // MARK: State and gaps

  /// The state after all steps; nil without any step.
  public var state: SubscriptionState? { outcomes.last?.state ?? startState }

  /// The status after each step that is kept individually.
  public var statuses: [SubscriptionStatus] { outcomes.map(\.state.status) }

  /// The gaps that the steps show, except for settled ones.
  public var gaps: [SubscriptionGap] {
    var before = startState?.lastSignedDate
    var gaps: [SubscriptionGap] = []
    let outcomes = outcomes
    for (index, (step, outcome)) in zip(steps, outcomes).enumerated() {
      var (rules, missing) = (outcome.broken, outcome.missing)
      if let unannounced = outcome.unannounced, !isAnnounced(unannounced.status, after: index), !showsRevocation(index, outcomes) {
        if missing.isEmpty { missing = unannounced.missing }
        if !rules.contains(.changedFact) { rules.append(.changedFact) }
      }
      if !rules.isEmpty {
        gaps.append(
          SubscriptionGap(rules: rules, missing: missing, after: before, shownBy: step.notificationUUID, before: step.signedDate))
      }
      before = step.signedDate
    }
    return gaps.filter { !settledGaps.contains($0.id) }
  }

  /// True if a later step, signed within a day, announces the status that a step shows. The status was not missed then: Apple signed the
  /// announcement after that step.
  private func isAnnounced(_ status: SubscriptionStatus, after index: Int) -> Bool {
    stepsWithinDay(after: index).contains { SubscriptionFold.announces($0, status) }
  }

  /// True if a step shows its transaction revoked, and the notification of that, signed within a day, ends the subscription. Apple's status in
  /// the step is then from just before the revocation.
  private func showsRevocation(_ index: Int, _ outcomes: [SubscriptionFold.Outcome]) -> Bool {
    guard let transaction = steps[index].transaction, transaction.revocationDate != nil else { return false }
    return stepsWithinDay(after: index).indices.contains { later in
      SubscriptionFold.announces(steps[later], .revoked) && steps[later].transaction?.transactionId == transaction.transactionId
        && outcomes[later].state.status == .revoked
    }
  }

  private func stepsWithinDay(after index: Int) -> ArraySlice<LifecycleStep> {
    let latest = steps[index].signedDate.plus(SubscriptionGapRule.silenceAfter)
    return steps[(index + 1)...].prefix { $0.signedDate <= latest }
  }

  /// True if there is a gap with that id now.
  public func has(gap id: String, at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> Bool {
    self.silence(at: now, after: silence)?.id == id || gaps.contains { $0.id == id }
  }

  /// The number of steps before the one that shows a gap, or of all steps for silence. The number changes only if the gap may have been
  /// closed and opened again: if a step was inserted before the gap, or, for silence, if any step arrived.
  public func position(of gap: SubscriptionGap) -> Int {
    let index = steps.firstIndex { $0.notificationUUID == gap.shownBy } ?? steps.count
    return (inheritance?.steps ?? 0) + compactedSteps + index
  }

  /// Ends a gap that no notification closes, by adding Apple's status to the history. If the status does not end a silence, that gap is not
  /// settled, and the status is requested again later.
  ///
  /// - Parameter observation: Apple's status; nil if Apple does not know the subscription or could not be asked.
  public mutating func repair(_ gap: SubscriptionGap, by observation: LifecycleStep?) {
    if let observation { _ = insert(observation) }
    if gap.rules == [.silence], observation != nil, state?.noticeDue == gap.before { return }
    settle(gap)
  }

  /// The state before the first step that is kept individually.
  private var startState: SubscriptionState? { base ?? inheritance?.state }

  /// The result of each step that is kept individually.
  private var outcomes: [SubscriptionFold.Outcome] {
    var last = startState
    return steps.enumerated().map { index, step in
      let outcome = SubscriptionFold.next(last, step, beginsHistory: index == 0 && base == nil)
      last = outcome.state
      return outcome
    }
  }

  /// If there are too many steps, keeps only the newer half individually.
  private mutating func compact() {
    guard steps.count > Self.maxSteps else { return }
    let old = steps.prefix(steps.count - Self.maxSteps / 2)
    for step in old { base = SubscriptionFold.next(startState, step, beginsHistory: base == nil).state }
    compactedSteps += old.count
    lateSteps.subtract(old.map(\.notificationUUID))
    steps.removeFirst(old.count)
    // The ids of gaps that removed steps showed are removed too.
    let kept = Set(steps.map(\.notificationUUID))
    settledGaps = settledGaps.filter { kept.contains($0) || $0.hasPrefix(SubscriptionGap.silencePrefix) }
  }
}

extension SubscriptionHistory {
  /// The stored format.
  public var stored: [UInt8] {
    var object: JSONObject = [
      "environment": .string(environment), "originalTransactionId": .string(originalTransactionId),
      "steps": .array(steps.map { .object($0.json) }), "late": .array(lateSteps.sorted().map { .string($0) }),
      "settled": .array(settledGaps.sorted().map { .string($0) }), "compacted": .integer(Int64(compactedSteps)),
    ]
    object["base"] = base.map { .object($0.json) }
    object["bundleId"] = bundleId.map { .string($0) }
    if !continuations.isEmpty {
      object["continuations"] = .object(
        JSONObject(continuations.sorted { $0.key < $1.key }.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }))
    }
    object["inheritance"] = inheritance.map { .object($0.json) }
    return JSONValue.object(object).serialized
  }

  /// Parses the stored format; nil if it is invalid.
  public init?(stored bytes: [UInt8]) {
    guard let object = try? JSONValue(parsing: bytes).objectValue, let environment = object["environment"]?.stringValue,
      let id = object["originalTransactionId"]?.stringValue, let steps = object["steps"]?.arrayValue
    else { return nil }
    self.init(environment: environment, originalTransactionId: id)
    for value in steps {
      guard let step = value.objectValue.flatMap({ LifecycleStep(json: $0) }) else { return nil }
      self.steps.append(step)
    }
    guard self.steps == self.steps.sorted() else { return nil }
    lateSteps = Set(object["late"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    settledGaps = Set(object["settled"]?.arrayValue?.compactMap(\.stringValue) ?? [])
    compactedSteps = Int(object["compacted"]?.int64Value ?? 0)
    bundleId = object["bundleId"]?.stringValue
    for member in object["continuations"]?.objectValue?.members ?? [] {
      guard let date = member.value.int64Value else { return nil }
      continuations[member.key] = date
    }
    if let value = object["inheritance"] {
      guard let inheritance = value.objectValue.flatMap({ SubscriptionInheritance(json: $0) }) else { return nil }
      self.inheritance = inheritance
    }
    if let value = object["base"] {
      guard let base = value.objectValue.flatMap({ SubscriptionState(json: $0) }) else { return nil }
      self.base = base
    }
  }
}
