import WireJSON

/// Applies the steps of a story, the life cycle of a subscription, at their usual dates.
struct StoryPlayer {
  /// A step, its delay after the usual date, and the options of its notification.
  struct PlannedStep: Sendable {
    var step: StoryStep
    var delayDays: Double = 0
    /// The members of the step in the request, such as `send` and `forge`.
    var options = JSONObject()
  }

  var plannedSteps: [PlannedStep]

  init(_ steps: [StoryStep]) { plannedSteps = steps.map { PlannedStep(step: $0) } }

  /// Reads `["buy", {"step": "renew", "send": false, "delayDays": 0.5}]`.
  init(_ json: [JSONValue]) throws {
    plannedSteps = try json.enumerated().map { index, entry in
      let name = entry.stringValue ?? entry["step"]?.stringValue ?? ""
      guard let step = StoryStep(rawValue: name) else {
        throw ControlError("steps[\(index)]: one of \(StoryStep.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return PlannedStep(
        step: step, delayDays: entry["delayDays"]?.numberValue?.double ?? 0, options: entry.objectValue ?? JSONObject())
    }
    guard !plannedSteps.isEmpty else { throw ControlError("steps: at least one") }
  }

  /// The time from the first step to the last, in milliseconds.
  func duration(of subscription: SimulatedSubscription) throws -> Int64 {
    var copy = subscription
    let start: Int64 = copy.lastDate
    var last = start
    let newID = { "1" }
    try play(&copy, from: start, newID: newID) { _, _, _, date in last = date }
    return last - start
  }

  /// Applies all steps. After each, `didApply` gets the step, the subscription in its new state, the event and the date.
  ///
  /// - Parameter latest: the latest date of a step. A step whose usual date is later happens on this date, so that a renewal can be early.
  func play(
    _ subscription: inout SimulatedSubscription, from start: Int64, latest: Int64 = .max, newID: () -> String,
    _ didApply: (PlannedStep, SimulatedSubscription, SimulatedSubscription.Event, Int64) throws -> Void
  ) throws {
    for (index, entry) in plannedSteps.enumerated() {
      let usual = index == 0 && subscription.transactions.isEmpty ? start : subscription.usualDate(of: entry.step)
      let date = min(usual + Int64(entry.delayDays * Double(SimulatedSubscription.day)), latest)
      let event = try subscription.apply(entry.step, at: date, newID: newID)
      try didApply(entry, subscription, event, date)
    }
  }
}
