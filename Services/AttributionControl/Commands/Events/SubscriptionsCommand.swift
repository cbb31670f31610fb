import ArgumentParser
import AttributionProtocol
import WireJSON

struct SubscriptionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions", abstract: "Readers of the feed: how far behind they are, where they begin, their endpoints.",
    discussion: """
      Examples:
        attributionctl subscriptions
        attributionctl subscriptions create billing --type notification --start now
        attributionctl subscriptions seek billing --to 2026-11-20T00:00:00Z --dry-run
        attributionctl subscriptions enable billing
      """,
    subcommands: [List.self, Show.self, Create.self, Seek.self, Enable.self, RotateSecret.self, Delete.self],
    defaultSubcommand: List.self)

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "All subscriptions with their backlog (the default).",
      discussion: "Example: attributionctl subscriptions list --output yaml")

    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in try await connection.client.events.listSubscriptions() }
      try connection.printer.show(answer, none: "There is no subscription.") {
        var table = Table([
          "name", "reads", Table.Column("backlog", isNumber: true), Table.Column("oldest", isNumber: true),
          Table.Column("lost", isNumber: true), "state", "since",
        ])
        for one in answer.subscriptions {
          let state = one.endpointStatus?.state ?? "pulled"
          table.add(
            Cell(one.name), Cell(one.push == nil ? "pull" : "push"), Cell("\(one.backlog ?? 0)"),
            Cell(DisplayFormat.age(one.oldestUnacknowledgedAgeSeconds)),
            Cell("\(one.dropped ?? 0)", (one.dropped ?? 0) > 0 ? .bad : .plain),
            Cell(state, DisplayFormat.state(state)), Cell((one.endpointStatus?.since ?? one.createdAt)?.text))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "One subscription with its filter, its place and how its endpoint does.",
      discussion: "Example: attributionctl subscriptions show billing")

    @Argument(help: "Its name.") var name: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
      }
      try connection.printer.show(answer) { SubscriptionsCommand.record(answer.subscription ?? Subscription()) }
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Make a subscription, pulled or pushed.",
      discussion: """
        The secret of a pushed one is told once, here.

        Examples:
          attributionctl subscriptions create billing --type notification --app com.example.app
          attributionctl subscriptions create warehouse --start beginning --push-to https://warehouse.example.com/events
        """)

    enum Start: String, ExpressibleByArgument, CaseIterable { case beginning, now }

    @Argument(help: "Its name: 1 to 64 of A-Z a-z 0-9 . _ -") var name: String
    @OptionGroup var selection: EventSelection
    @Option(help: "beginning or now.") var start = Start.beginning
    @Option(help: ArgumentHelp("Begin with events of this time instead; RFC 3339, or an age such as 2h.", valueName: "time"))
    var since: TimeArgument?
    @Flag(help: "Hand out the events of one subject in their order, to one reader at a time.") var ordered = false
    @Option(help: ArgumentHelp("Push events to this endpoint.", valueName: "url")) var pushTo: String?
    @Option(help: "structured, binary or original, of one that is pushed.", completion: .list(["structured", "binary", "original"]))
    var form: String?
    @Flag(help: "Only say what would be asked.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      if form != nil, pushTo == nil { throw ValidationError("--form is for --push-to.") }
    }

    func run() async throws {
      let connection = try Connection(options)
      var request = CreateSubscriptionRequest(name: name, types: try selection.types())
      request.filter = selection.filter
      if let since { request.startTime = since.timestamp } else { request.start = start.rawValue }
      if let pushTo {
        request.push = PushEndpoint(url: pushTo, form: form, ordered: ordered ? true : nil)
      } else {
        request.ordered = ordered ? true : nil
      }
      let asked = request
      guard !dryRun else {
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(asked)]) {
          Record([("dry run", Cell("\(name) would be made"))])
        }
      }
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in try await connection.client.events.createSubscription(asked)
      }
      try connection.printer.show(answer) {
        var record = SubscriptionsCommand.record(answer.subscription ?? Subscription())
        record.add("secret", answer.secret, .warning)
        return record
      }
    }
  }

  struct Seek: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "seek", abstract: "Set a subscription back or forward: what is kept from there on is handed out again.",
      discussion: """
        Examples:
          attributionctl subscriptions seek billing --to 6h
          attributionctl subscriptions seek billing --to-end
        """)

    @Argument(help: "Its name.") var name: String
    @Option(help: ArgumentHelp("To events of this time; RFC 3339, or an age such as 2h.", valueName: "time")) var to: TimeArgument?
    @Option(help: ArgumentHelp("To this event.", valueName: "id")) var toEvent: String?
    @Flag(help: "To the end: only what is published from now on.") var toEnd = false
    @Flag(help: "Only say what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      guard [to != nil, toEvent != nil, toEnd].count(where: { $0 }) == 1 else {
        throw ValidationError("One of --to, --to-event and --to-end is needed.")
      }
    }

    func run() async throws {
      let connection = try Connection(options)
      let request = SeekSubscriptionRequest(subscription: name, time: to?.timestamp, eventId: toEvent, end: toEnd ? true : nil)
      guard !dryRun else {
        let answer = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
        }
        let backlog = answer.subscription?.backlog ?? 0
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(request), "backlog": .integer(backlog)]) {
          Record([("dry run", Cell("\(name), now \(DisplayFormat.count(backlog, "event")) behind, would be set to another place"))])
        }
      }
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in try await connection.client.events.seekSubscription(request)
      }
      try connection.printer.show(answer) { SubscriptionsCommand.record(answer.subscription ?? Subscription()) }
    }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enable", abstract: "Post to an endpoint again that was disabled.",
      discussion: "Example: attributionctl subscriptions enable billing --replay-from 2h")

    @Argument(help: "The subscription's name.") var name: String
    @Option(help: ArgumentHelp("Post again what was published from this time on; RFC 3339, or an age.", valueName: "time"))
    var replayFrom: TimeArgument?
    @Flag(help: "Only say what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      guard !dryRun else {
        let answer = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
        }
        return try connection.printer.show(answer) { SubscriptionsCommand.record(answer.subscription ?? Subscription()) }
      }
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.enableEndpoint(EnableEndpointRequest(subscription: name, replayFrom: replayFrom?.timestamp))
      }
      try connection.printer.show(answer) { SubscriptionsCommand.record(answer.subscription ?? Subscription()) }
    }
  }

  struct RotateSecret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate-secret", abstract: "Make a new secret of an endpoint; both sign until --end-older.",
      discussion: """
        Examples:
          attributionctl subscriptions rotate-secret billing
          attributionctl subscriptions rotate-secret billing --end-older
        """)

    @Argument(help: "The subscription's name.") var name: String
    @Flag(help: "Make none: end the older one, which signs no more.") var endOlder = false
    @Flag(help: "Only say what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      guard !dryRun else {
        let answer = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
        }
        return try connection.printer.show(answer) { SubscriptionsCommand.record(answer.subscription ?? Subscription()) }
      }
      let request = RotateEndpointSecretRequest(
        subscription: name, endOlder: endOlder ? true : nil, makeNone: endOlder ? true : nil)
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.rotateEndpointSecret(request)
      }
      try connection.printer.show(answer) {
        var record = Record()
        record.add("secret", answer.secret, .warning)
        for (index, time) in (answer.endpointStatus?.secretsMadeAt ?? []).enumerated() {
          record.add(index == 0 ? "signs, made" : "signs too, made", time.text)
        }
        return record
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "End a subscription; what it has not read is lost to it.",
      discussion: "Example: attributionctl subscriptions delete billing --yes")

    @Argument(help: "Its name.") var name: String
    @Flag(help: "Only say what would be done.") var dryRun = false
    @Flag(help: "Do not ask.") var yes = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let answer = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
      }
      let backlog = DisplayFormat.count(answer.subscription?.backlog ?? 0, "event")
      if !dryRun {
        if !yes { try Confirmation.ask("\(name) has not read \(backlog). Delete it?") }
        _ = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.deleteSubscription(DeleteSubscriptionRequest(name: name))
        }
      }
      try connection.printer.show(["dryRun": .bool(dryRun), "deleted": .string(name)]) {
        Record([(dryRun ? "dry run" : "deleted", Cell("\(name), which had \(backlog) to read"))])
      }
    }
  }

  static func record(_ one: Subscription) -> Record {
    var record = Record()
    record.add("name", one.name)
    record.add("types", one.types.isEmpty ? "all" : one.types.joined(separator: ", "))
    record.add("ad networks", one.filter?.adNetworkIds.joined(separator: ", "))
    record.add("apps", one.filter?.apps.joined(separator: ", "))
    record.add("environments", one.filter?.environments.joined(separator: ", "))
    record.add("start", one.startTime?.text ?? one.startEventId ?? one.start)
    record.add("made", one.createdAt?.text)
    record.add("order", one.ordered == true || one.push?.ordered == true ? "by subject" : "none")
    record.add("backlog", one.backlog.map { DisplayFormat.count($0, "event") })
    record.add("oldest", DisplayFormat.age(one.oldestUnacknowledgedAgeSeconds))
    record.add("lost", one.dropped.flatMap { $0 > 0 ? DisplayFormat.count($0, "event") : nil }, .bad)
    record.add("endpoint", one.push?.url)
    record.add("form", one.push?.form)
    if let status = one.endpointStatus {
      record.add("state", status.state, DisplayFormat.state(status.state))
      record.add("since", status.since?.text)
      record.add("reason", status.reason)
      record.add("last success", status.lastSuccess?.text)
      record.add("failing since", status.failingSince?.text, .bad)
      record.add("last error", status.lastError, .bad)
    }
    return record
  }
}
