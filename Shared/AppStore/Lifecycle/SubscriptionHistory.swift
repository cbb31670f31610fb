import WireJSON

/// The history of one subscription: its known steps in Apple's order, and the state that results from them.
///
/// The state depends only on the set of steps, not on the order or number of their arrivals.
public struct SubscriptionHistory: Sendable, Hashable {
  /// The result of adding a step.
  public enum Arrival: Sendable, Hashable {
    /// It is the newest step.
    case inOrder
    /// A newer step arrived before it.
    case late
    /// It is known; `late` says whether it was late at its first arrival.
    case duplicate(late: Bool)
    /// It is older than the steps that are kept individually, so it changes nothing.
    case beforeHistory

    /// True if a newer step arrived before it.
    public var isLate: Bool {
      switch self {
      case .inOrder, .duplicate(late: false): false
      case .late, .duplicate(late: true), .beforeHistory: true
      }
    }
  }

  /// The greatest number of steps that are kept individually; older ones are kept only as the resulting state.
  public static let maxSteps = 200

  public let environment: String
  public let originalTransactionId: String
  /// The steps in Apple's order (``LifecycleStep``'s `<`).
  public private(set) var steps: [LifecycleStep] = []
  /// The UUIDs of steps that arrived after a newer one.
  public private(set) var lateSteps: Set<String> = []
  /// The ids of gaps that were looked up and cannot be closed.
  public private(set) var settledGaps: Set<String> = []
  /// The state after the steps that are no longer kept.
  private var base: SubscriptionState?
  /// The number of steps that are no longer kept.
  public private(set) var compactedSteps = 0
  /// The app, once a step has named it.
  public var bundleId: String?
  /// The ids under which the subscription continued, with the signing time of the earliest step that names this id, milliseconds since
  /// 1970.
  public private(set) var continuations: [String: Int64] = [:]
  /// The state under the previous id.
  public private(set) var inheritance: SubscriptionInheritance?

  public init(environment: String, originalTransactionId: String) {
    self.environment = environment
    self.originalTransactionId = originalTransactionId
  }

  /// Adds a step in order.
  public mutating func insert(_ step: LifecycleStep) -> Arrival {
    if steps.contains(where: { $0.notificationUUID == step.notificationUUID }) {
      return .duplicate(late: lateSteps.contains(step.notificationUUID))
    }
    if let base, step.signedDate <= base.lastSignedDate { return .beforeHistory }
    let place = steps.firstIndex { step < $0 } ?? steps.count
    steps.insert(step, at: place)
    // Newer steps arrived under the following id.
    let isLate = place < steps.count - 1 || continuation.map { step.signedDate < $0.at } ?? false
    if isLate { lateSteps.insert(step.notificationUUID) }
    compact()
    return isLate ? .late : .inOrder
  }

  /// Records that a gap cannot be closed, so that it is not suspected again.
  public mutating func settle(_ gap: SubscriptionGap) { settledGaps.insert(gap.id) }

  // MARK: Migration

  /// The id under which the subscription continues, and the time of that; nil if it was not migrated.
  public var continuation: (originalTransactionId: String, at: Int64)? {
    continuations.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Records that the subscription continues under another id. Returns the state with which that begins; nil for the same id or another
  /// app's.
  public mutating func recordContinuation(as id: String, at date: Int64, bundleId: String?) -> SubscriptionInheritance? {
    guard id != originalTransactionId, id != inheritance?.originalTransactionId, date > .min else { return nil }
    if let mine = self.bundleId, let its = bundleId, mine != its { return nil }
    continuations[id] = min(continuations[id] ?? date, date)
    if self.bundleId == nil { self.bundleId = bundleId }
    return inheritance(of: id)
  }

  /// The state with which the history of the given id begins; nil if that is not a continuation of this one.
  public func inheritance(of id: String) -> SubscriptionInheritance? {
    guard let date = continuations[id] else { return nil }
    let until = folded.last { $0.state.lastSignedDate <= date }?.state ?? start
    return SubscriptionInheritance(
      originalTransactionId: originalTransactionId, at: date, state: until,
      steps: compactedSteps + steps.count + (inheritance?.steps ?? 0))
  }

  /// Takes over the state under the previous id. A better known state, and a first previous id, are kept.
  public mutating func begin(with inherited: SubscriptionInheritance) {
    guard inherited.originalTransactionId != originalTransactionId else { return }
    if let known = inheritance {
      guard known.originalTransactionId == inherited.originalTransactionId, inherited.isNewer(than: known) else { return }
    }
    inheritance = inherited
  }

  // MARK: State and gaps

  /// The current state; nil without any step.
  public var state: SubscriptionState? { folded.last?.state ?? start }

  /// The status after each kept step.
  public var statuses: [SubscriptionStatus] { folded.map(\.state.status) }

  /// The gaps, except for settled ones.
  public var gaps: [SubscriptionGap] {
    var before = start?.lastSignedDate
    var gaps: [SubscriptionGap] = []
    for (index, (step, fold)) in zip(steps, folded).enumerated() {
      var (rules, missing) = (fold.broken, fold.missing)
      if let status = fold.unannounced, !isAnnounced(status, after: index) {
        if missing.isEmpty { missing = SubscriptionFold.announcement(of: status) }
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

  /// True if a later step, within a day, announces a status that a step showed: its announcement was signed a little later.
  private func isAnnounced(_ status: SubscriptionStatus, after index: Int) -> Bool {
    let latest = steps[index].signedDate.plus(SubscriptionGapRule.silenceAfter)
    return steps[(index + 1)...].prefix { $0.signedDate <= latest }.contains { SubscriptionFold.announces($0, status) }
  }

  /// The gap of silence at a given time; nil if there is none. `silence`: the time without notifications after the end that counts as a
  /// gap, milliseconds.
  public func silence(at now: Int64, after silence: Int64 = SubscriptionGapRule.silenceAfter) -> SubscriptionGap? {
    guard let due = silenceDue(after: silence), now > due, let state, let end = state.awaitedEnd else { return nil }
    return SubscriptionGap(
      rules: [.silence],
      missing: state.status == .billingRetry ? "DID_RENEW/BILLING_RECOVERY or EXPIRED/BILLING_RETRY" : "DID_RENEW or EXPIRED",
      after: state.lastSignedDate, shownBy: "", before: end)
  }

  /// The time at which silence becomes a gap, milliseconds since 1970; nil if no notification is expected.
  public func silenceDue(after silence: Int64 = SubscriptionGapRule.silenceAfter) -> Int64? {
    // If the subscription continues under another id, notifications are expected for that one.
    guard continuations.isEmpty, let end = state?.awaitedEnd, !settledGaps.contains("\(SubscriptionGap.silencePrefix)\(end)") else {
      return nil
    }
    // If Apple was asked after the end and nothing was new, Apple is asked again after the same time.
    let heard = steps.last.map { $0.isObservation ? $0.signedDate : 0 } ?? 0
    let (due, overflow) = max(end, heard).addingReportingOverflow(silence)
    return overflow ? nil : due
  }

  /// True if there is a gap with that id now.
  public func has(gap id: String, at now: Int64, silence: Int64 = SubscriptionGapRule.silenceAfter) -> Bool {
    self.silence(at: now, after: silence)?.id == id || gaps.contains { $0.id == id }
  }

  /// The number of steps before the one that shows a gap, or of all steps for silence. It changes only if the gap may have been closed and
  /// opened again: a step arrived late before it, or, for silence, any step arrived.
  public func position(of gap: SubscriptionGap) -> Int {
    let place = steps.firstIndex { $0.notificationUUID == gap.shownBy } ?? steps.count
    return (inheritance?.steps ?? 0) + compactedSteps + place
  }

  /// Ends a gap that no notification closes, with Apple's status; nil if Apple did not know the subscription or could not be asked.
  ///
  /// If Apple's status does not end a silence, it is not settled, and Apple is asked again later.
  public mutating func repair(_ gap: SubscriptionGap, by observation: LifecycleStep?) {
    if let observation { _ = insert(observation) }
    if gap.rules == [.silence], observation != nil, state?.awaitedEnd == gap.before { return }
    settle(gap)
  }

  /// The state before the first kept step.
  private var start: SubscriptionState? { base ?? inheritance?.state }

  private var folded: [SubscriptionFold.Outcome] {
    var last = start
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
    for step in old { base = SubscriptionFold.next(start, step, beginsHistory: base == nil).state }
    compactedSteps += old.count
    lateSteps.subtract(old.map(\.notificationUUID))
    steps.removeFirst(old.count)
    // Ids of gaps that can no longer be found are removed.
    let kept = Set(steps.map(\.notificationUUID))
    settledGaps = settledGaps.filter { kept.contains($0) || $0.hasPrefix(SubscriptionGap.silencePrefix) }
  }
}

extension SubscriptionHistory {
  /// The stored form.
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

  /// Parses the stored form; nil if it is invalid.
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
