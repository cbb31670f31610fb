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
    let isLate = place < steps.count - 1
    if isLate { lateSteps.insert(step.notificationUUID) }
    compact()
    return isLate ? .late : .inOrder
  }

  /// Notes that a gap was looked into in vain, so that it is not suspected again.
  public mutating func settle(_ gap: SubscriptionGap) { settledGaps.insert(gap.id) }

  /// The state that the steps make; nil before the first.
  public var state: SubscriptionState? { folded.last?.state ?? base }

  /// The status after each step that is kept.
  public var statuses: [SubscriptionStatus] { folded.map(\.state.status) }

  /// Where steps are missing, but for what was settled.
  public var gaps: [SubscriptionGap] {
    var before = base?.lastSignedDate
    var gaps: [SubscriptionGap] = []
    for (step, fold) in zip(steps, folded) {
      if !fold.broken.isEmpty {
        gaps.append(
          SubscriptionGap(
            rules: fold.broken, missing: SubscriptionFold.missing(step, fold.broken), after: before, shownBy: step.notificationUUID,
            before: step.signedDate))
      }
      before = step.signedDate
    }
    return gaps.filter { !settledGaps.contains($0.id) }
  }

  /// The gap that silence is, at a given time; nil while there is none. `silence` is how long nothing may be heard past the end,
  /// milliseconds.
  public func silence(at now: Int64, after silence: Int64 = SubscriptionState.silence) -> SubscriptionGap? {
    guard let due = silenceDue(after: silence), now > due, let state, let end = state.awaitedEnd else { return nil }
    return SubscriptionGap(rules: [.silence], missing: "DID_RENEW or EXPIRED", after: state.lastSignedDate, shownBy: "", before: end)
  }

  /// When silence becomes a gap if nothing is heard until then, milliseconds since 1970; nil where nothing more has to be heard.
  public func silenceDue(after silence: Int64 = SubscriptionState.silence) -> Int64? {
    guard let end = state?.awaitedEnd, !settledGaps.contains("\(SubscriptionGap.silencePrefix)\(end)") else { return nil }
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

  private var folded: [(state: SubscriptionState, broken: [SubscriptionGapRule])] {
    var last = base
    return steps.map { step in
      let (state, broken) = SubscriptionFold.next(last, step)
      last = state
      return (state, broken)
    }
  }

  /// Keeps the newer half one by one when there are too many.
  private mutating func compact() {
    guard steps.count > Self.mostSteps else { return }
    let old = steps.prefix(steps.count - Self.mostSteps / 2)
    for step in old { base = SubscriptionFold.next(base, step).0 }
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
    if let value = object["base"] {
      guard let base = value.objectValue.flatMap({ SubscriptionState(json: $0) }) else { return nil }
      self.base = base
    }
  }
}
