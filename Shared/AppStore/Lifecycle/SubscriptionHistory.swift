import WireJSON

/// The life of one subscription, as far as it was heard of: the steps in Apple's order, and what they make.
///
/// The state depends on which steps came, not on the order in which they arrived, nor on how often.
public struct SubscriptionHistory: Sendable, Hashable {
  /// What became of a step.
  public enum Arrival: Sendable, Hashable {
    /// The newest so far.
    case inOrder
    /// A newer one was here before it.
    case late
    /// It was here before; `late` says whether it was late then.
    case duplicate(late: Bool)
    /// Older than what is kept one by one: it changes nothing.
    case beforeHistory
  }

  /// The most steps that are kept one by one; older ones are kept as the state they made.
  public static let mostSteps = 200

  public let environment: String
  public let originalTransactionId: String
  /// In Apple's order.
  public private(set) var steps: [LifecycleStep] = []
  /// The UUIDs of those that came after a newer one.
  public private(set) var lateSteps: Set<String> = []
  /// Gaps that were looked into and that nothing can fill, by their names.
  public private(set) var settledGaps: Set<String> = []
  /// What steps that are no longer kept had made.
  private var base: SubscriptionState?
  /// How many those were.
  public private(set) var compactedSteps = 0
  /// The app, once a step has named it.
  public var bundleId: String?
  /// Ids under which the subscription went on, and when: the signing time of the earliest step of theirs that names this one,
  /// milliseconds since 1970.
  public private(set) var continuations: [String: Int64] = [:]
  /// What the subscription had come to under the id before this one.
  public private(set) var inheritance: SubscriptionInheritance?

  public init(environment: String, originalTransactionId: String) {
    self.environment = environment
    self.originalTransactionId = originalTransactionId
  }

  /// Puts a step in its place.
  public mutating func insert(_ step: LifecycleStep) -> Arrival {
    if steps.contains(where: { $0.notificationUUID == step.notificationUUID }) {
      return .duplicate(late: lateSteps.contains(step.notificationUUID))
    }
    if let base, step.signedDate <= base.lastSignedDate { return .beforeHistory }
    let place = steps.firstIndex { step < $0 } ?? steps.count
    steps.insert(step, at: place)
    // Under the id that follows, newer ones were here.
    let isLate = place < steps.count - 1 || continuation.map { step.signedDate < $0.at } ?? false
    if isLate { lateSteps.insert(step.notificationUUID) }
    compact()
    return isLate ? .late : .inOrder
  }

  /// Notes that a gap was looked into in vain, so that it is not suspected again.
  public mutating func settle(_ gap: SubscriptionGap) { settledGaps.insert(gap.id) }

  // MARK: Migration

  /// The id under which the subscription goes on, and since when; nil for one that has stayed under this.
  public var continuation: (originalTransactionId: String, at: Int64)? {
    continuations.max { ($0.value, $0.key) < ($1.value, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Notes that the subscription went on under another id, and answers what that begins with. Nil where it cannot be so: it is the
  /// same id, or another app's.
  public mutating func goOn(as id: String, at date: Int64, bundleId: String?) -> SubscriptionInheritance? {
    guard id != originalTransactionId, id != inheritance?.originalTransactionId, date > .min else { return nil }
    if let mine = self.bundleId, let its = bundleId, mine != its { return nil }
    continuations[id] = min(continuations[id] ?? date, date)
    if self.bundleId == nil { self.bundleId = bundleId }
    return inheritance(of: id)
  }

  /// What the life under the id that follows begins with; nil where that is no continuation of this.
  public func inheritance(of id: String) -> SubscriptionInheritance? {
    guard let date = continuations[id] else { return nil }
    let until = folded.last { $0.state.lastSignedDate <= date }?.state ?? start
    return SubscriptionInheritance(
      originalTransactionId: originalTransactionId, at: date, state: until,
      steps: compactedSteps + steps.count + (inheritance?.steps ?? 0))
  }

  /// Begins with what the subscription had come to under another id. What was known better stays, as does a first id.
  public mutating func begin(with inherited: SubscriptionInheritance) {
    guard inherited.originalTransactionId != originalTransactionId else { return }
    if let known = inheritance {
      guard known.originalTransactionId == inherited.originalTransactionId, inherited.isNewer(than: known) else { return }
    }
    inheritance = inherited
  }

  // MARK: State and gaps

  /// The state that the steps make; nil before the first.
  public var state: SubscriptionState? { folded.last?.state ?? start }

  /// The status after each step that is kept.
  public var statuses: [SubscriptionStatus] { folded.map(\.state.status) }

  /// Where steps are missing, but for what was settled.
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

  /// Whether one of the steps that follow, within a day, announces a status that a step showed: it was signed a little later.
  private func isAnnounced(_ status: SubscriptionStatus, after index: Int) -> Bool {
    let latest = steps[index].signedDate.plus(SubscriptionState.silence)
    return steps[(index + 1)...].prefix { $0.signedDate <= latest }.contains { SubscriptionFold.announces($0, status) }
  }

  /// The gap that silence is, at a given time; nil while there is none. `silence` is how long nothing may be heard past the end,
  /// milliseconds.
  public func silence(at now: Int64, after silence: Int64 = SubscriptionState.silence) -> SubscriptionGap? {
    guard let due = silenceDue(after: silence), now > due, let state, let end = state.awaitedEnd else { return nil }
    return SubscriptionGap(
      rules: [.silence],
      missing: state.status == .billingRetry ? "DID_RENEW/BILLING_RECOVERY or EXPIRED/BILLING_RETRY" : "DID_RENEW or EXPIRED",
      after: state.lastSignedDate, shownBy: "", before: end)
  }

  /// When silence becomes a gap if nothing is heard until then, milliseconds since 1970; nil where nothing more has to be heard.
  public func silenceDue(after silence: Int64 = SubscriptionState.silence) -> Int64? {
    // Where it goes on under another id, that one is listened to.
    guard continuations.isEmpty, let end = state?.awaitedEnd, !settledGaps.contains("\(SubscriptionGap.silencePrefix)\(end)") else {
      return nil
    }
    // Apple was asked past the end and said nothing new: it is asked again after as long a time.
    let heard = steps.last.map { $0.isObservation ? $0.signedDate : 0 } ?? 0
    let (due, overflow) = max(end, heard).addingReportingOverflow(silence)
    return overflow ? nil : due
  }

  /// Whether a gap of that name is there now.
  public func has(gap id: String, at now: Int64, silence: Int64 = SubscriptionState.silence) -> Bool {
    self.silence(at: now, after: silence)?.id == id || gaps.contains { $0.id == id }
  }

  /// Ends a gap that no notification fills: takes in what Apple answered when it was asked, nil when Apple knew nothing.
  ///
  /// Silence that Apple's answer does not end is not settled: the same is asked again later.
  public mutating func repair(_ gap: SubscriptionGap, by observation: LifecycleStep?) {
    if let observation { _ = insert(observation) }
    if gap.rules == [.silence], observation != nil, state?.awaitedEnd == gap.before { return }
    settle(gap)
  }

  /// What the first step that is kept goes on from.
  private var start: SubscriptionState? { base ?? inheritance?.state }

  private var folded: [SubscriptionFold.Outcome] {
    var last = start
    return steps.enumerated().map { index, step in
      let outcome = SubscriptionFold.next(last, step, beginsHistory: index == 0 && base == nil)
      last = outcome.state
      return outcome
    }
  }

  /// Keeps the newer half one by one when there are too many.
  private mutating func compact() {
    guard steps.count > Self.mostSteps else { return }
    let old = steps.prefix(steps.count - Self.mostSteps / 2)
    for step in old { base = SubscriptionFold.next(start, step, beginsHistory: base == nil).state }
    compactedSteps += old.count
    lateSteps.subtract(old.map(\.notificationUUID))
    steps.removeFirst(old.count)
    // Names of gaps that can no longer be found are of no use.
    let kept = Set(steps.map(\.notificationUUID))
    settledGaps = settledGaps.filter { kept.contains($0) || $0.hasPrefix(SubscriptionGap.silencePrefix) }
  }
}

extension SubscriptionHistory {
  /// The form in which it is kept.
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

  /// Reads the form in which it is kept; nil for anything else.
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
