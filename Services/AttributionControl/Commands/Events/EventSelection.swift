import ArgumentParser
import AttributionProtocol
import ServiceRuntime

/// Options that select events of the feed.
struct EventSelection: ParsableArguments {
  @Option(
    name: .customLong("type"), parsing: .singleValue,
    help: ArgumentHelp(
      "Only events of this type: the full name, or a part such as skadnetwork, notification or rejected; may be repeated.",
      valueName: "type"
    ),
    completion: .list(EventType.allCases.map(\.rawValue)))
  var typeNames: [String] = []
  @Option(
    name: .customLong("ad-network"), parsing: .singleValue,
    help: ArgumentHelp("Only events of this ad network; may be repeated.", valueName: "id")
  )
  var adNetworks: [String] = []
  @Option(
    name: .customLong("app"), parsing: .singleValue,
    help: ArgumentHelp("Only events of the app with this bundle id or Apple id; may be repeated.", valueName: "id"))
  var apps: [String] = []
  @Option(
    name: .customLong("environment"), parsing: .singleValue,
    help: ArgumentHelp("Only events of this environment: production, sandbox or development; may be repeated.", valueName: "environment"))
  var environments: [String] = []

  /// The full names of the selected event types; empty for all types.
  func types() throws(CommandFailure) -> [String] {
    var types: [String] = []
    for name in typeNames {
      let all = EventType.allCases.map(\.rawValue)
      let found = all.contains(name) ? [name] : all.filter { $0.contains(name.lowercased()) }
      guard !found.isEmpty else {
        let parts = Set(all.flatMap { $0.split(separator: ".").map(String.init) })
        let nearest = Spelling.nearest(to: name, among: parts.union(all)).map { "Did you mean \($0)?" }
        throw CommandFailure(
          .usage, "--type \(name): there is no such event type", advice: nearest ?? "Types: \(all.joined(separator: ", ")).")
      }
      types += found.filter { !types.contains($0) }
    }
    return types
  }

  /// The filter by ad network, app and environment; nil if none of them is given.
  var filter: EventFilter? {
    guard !adNetworks.isEmpty || !apps.isEmpty || !environments.isEmpty else { return nil }
    return EventFilter(adNetworkIds: adNetworks, apps: apps, environments: environments)
  }
}

/// A time in RFC 3339, a date, or an age such as `90s`, `15m`, `2h` or `7d`.
struct TimeArgument: ExpressibleByArgument, Sendable, Hashable {
  let timestamp: Timestamp
  /// The argument as it was typed.
  let text: String

  init?(argument: String) { self.init(argument, now: WallClock.now()) }

  /// - Parameter now: The current time, in milliseconds since 1970.
  init?(_ text: String, now: Int64) {
    self.text = text
    if let timestamp = Timestamp(text: text) ?? Timestamp(text: text + "T00:00:00Z") ?? Timestamp(text: text + "Z") {
      self.timestamp = timestamp
      return
    }
    guard text != "now" else {
      timestamp = Timestamp(millisecondsSince1970: now)
      return
    }
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = text.last.flatMap({ units[$0] }), let count = Int64(text.dropLast()), (0...1_000_000).contains(count) else {
      return nil
    }
    timestamp = Timestamp(millisecondsSince1970: now - count * unit * 1000)
  }
}
