import WireJSON

/// Applies the steps of a subscription's life cycle at their usual dates.
struct StoryPlayer {
  /// A step, its delay after the usual date, and the options of its notification.
  struct Scene: Sendable {
    var step: StoryStep
    var delayDays: Double = 0
    var options = JSONObject()
  }

  var scenes: [Scene]

  init(_ steps: [StoryStep]) { scenes = steps.map { Scene(step: $0) } }

  /// Reads `["buy", {"step": "renew", "send": false, "delayDays": 0.5}]`.
  init(_ json: [JSONValue]) throws {
    scenes = try json.enumerated().map { index, entry in
      let name = entry.stringValue ?? entry["step"]?.stringValue ?? ""
      guard let step = StoryStep(rawValue: name) else {
        throw ControlError("steps[\(index)]: one of \(StoryStep.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      return Scene(
        step: step, delayDays: entry["delayDays"]?.numberValue?.double ?? 0, options: entry.objectValue ?? JSONObject())
    }
    guard !scenes.isEmpty else { throw ControlError("steps: at least one") }
  }

  /// The time from the first step to the last, in milliseconds.
  func length(of subscription: SimulatedSubscription) throws -> Int64 {
    var copy = subscription
    let start: Int64 = copy.lastDate
    var last = start
    let newID = { "1" }
    try play(&copy, from: start, newID: newID) { _, _, _, date in last = date }
    return last - start
  }

  /// Applies all steps, and calls `scene` with the life cycle after each. No step is later than `latest`: a subscription that is
  /// still active is then renewed early.
  func play(
    _ subscription: inout SimulatedSubscription, from start: Int64, latest: Int64 = .max, newID: () -> String,
    _ scene: (Scene, SimulatedSubscription, SimulatedSubscription.Event, Int64) throws -> Void
  ) throws {
    for (index, entry) in scenes.enumerated() {
      let usual = index == 0 && subscription.transactions.isEmpty ? start : subscription.usualDate(of: entry.step)
      let date = min(usual + Int64(entry.delayDays * Double(SimulatedSubscription.day)), latest)
      let event = try subscription.apply(entry.step, at: date, newID: newID)
      try scene(entry, subscription, event, date)
    }
  }
}
