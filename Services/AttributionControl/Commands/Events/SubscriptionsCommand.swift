import ArgumentParser
import AttributionProtocol
import WireJSON

struct SubscriptionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions",
    abstract: "Show, create, change and delete subscriptions of the feed: their filters, backlogs, positions and endpoints.",
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
      commandName: "list", abstract: "List all subscriptions with their backlog (the default).",
      discussion: "Example: attributionctl subscriptions list --output yaml")

    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in try await connection.client.events.listSubscriptions() }
      try connection.printer.show(response, none: "There are no subscriptions.") {
        var table = Table([
          "name", "reads", Table.Column("backlog", isNumber: true), Table.Column("oldest", isNumber: true),
          Table.Column("lost", isNumber: true), "state", "since",
        ])
        for one in response.subscriptions {
          let state = one.endpointStatus?.state ?? "pulled"
          table.add(
            Cell(one.name), Cell(one.push == nil ? "pull" : "push"), Cell("\(one.backlog ?? 0)"),
            Cell(TerminalText.age(one.oldestUnacknowledgedAgeSeconds)),
            Cell("\(one.dropped ?? 0)", (one.dropped ?? 0) > 0 ? .bad : .plain),
            Cell(state, TerminalText.state(state)), Cell((one.endpointStatus?.since ?? one.createdAt)?.text))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a subscription: its filter, its position and the state of its endpoint.",
      discussion: "Example: attributionctl subscriptions show billing")

    @Argument(help: "The subscription's name.") var name: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
      }
      try connection.printer.show(response) { SubscriptionsCommand.record(response.subscription ?? Subscription()) }
    }
  }

  struct Create: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "create", abstract: "Create a subscription. With --push-to, its events are pushed to an endpoint.",
      discussion: """
        The secret of a pushed subscription is shown only once, in this command's output.

        Examples:
          attributionctl subscriptions create billing --type notification --app com.example.app
          attributionctl subscriptions create warehouse --start beginning --push-to https://warehouse.example.com/events
        """)

    enum Start: String, ExpressibleByArgument, CaseIterable { case beginning, now }

    @Argument(help: "The subscription's name: 1 to 64 of A-Z a-z 0-9 . _ -") var name: String
    @OptionGroup var selection: EventSelection
    @Option(help: "Where the subscription begins: beginning (the oldest event) or now.") var start = Start.beginning
    @Option(help: ArgumentHelp("Begin with events from this time on, instead of --start: RFC 3339, or an age.", valueName: "time"))
    var since: TimeArgument?
    @Flag(help: "Deliver the events of a subject in order, to one reader at a time.") var ordered = false
    @Option(help: ArgumentHelp("Push events to this endpoint.", valueName: "url")) var pushTo: String?
    @Option(help: "The format of pushed events: structured, binary or original.", completion: .list(["structured", "binary", "original"]))
    var form: String?
    @Flag(help: "Only show what would be requested.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      if form != nil, pushTo == nil { throw ValidationError("--form requires --push-to.") }
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
      let finalRequest = request
      guard !dryRun else {
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(finalRequest)]) {
          Record([("dry run", Cell("\(name) would be created"))])
        }
      }
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.createSubscription(finalRequest)
      }
      try connection.printer.show(response) {
        var record = SubscriptionsCommand.record(response.subscription ?? Subscription())
        record.add("secret", response.secret, .warning)
        return record
      }
    }
  }

  struct Seek: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "seek", abstract: "Move a subscription back or forward. All stored events from the new position on are delivered.",
      discussion: """
        Examples:
          attributionctl subscriptions seek billing --to 6h
          attributionctl subscriptions seek billing --to-end
        """)

    @Argument(help: "The subscription's name.") var name: String
    @Option(help: ArgumentHelp("Move to the first event from this time on: RFC 3339, or an age such as 2h.", valueName: "time")) var to:
      TimeArgument?
    @Option(help: ArgumentHelp("Move to this event.", valueName: "id")) var toEvent: String?
    @Flag(help: "Move to the end: deliver only events that are published from now on.") var toEnd = false
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      guard [to != nil, toEvent != nil, toEnd].count(where: { $0 }) == 1 else {
        throw ValidationError("One of --to, --to-event and --to-end is required.")
      }
    }

    func run() async throws {
      let connection = try Connection(options)
      let request = SeekSubscriptionRequest(subscription: name, time: to?.timestamp, eventId: toEvent, end: toEnd ? true : nil)
      guard !dryRun else {
        let response = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
        }
        let backlog = response.subscription?.backlog ?? 0
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(request), "backlog": .integer(backlog)]) {
          Record([("dry run", Cell("\(name), now \(TerminalText.count(backlog, "event")) behind, would be moved"))])
        }
      }
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.seekSubscription(request)
      }
      try connection.printer.show(response) { SubscriptionsCommand.record(response.subscription ?? Subscription()) }
    }
  }

  struct Enable: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "enable", abstract: "Enable a disabled endpoint: events are posted to it again.",
      discussion: "Example: attributionctl subscriptions enable billing --replay-from 2h")

    @Argument(help: "The subscription's name.") var name: String
    @Option(help: ArgumentHelp("Post all events again that were published from this time on: RFC 3339, or an age.", valueName: "time"))
    var replayFrom: TimeArgument?
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      guard !dryRun else {
        let response = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
        }
        return try connection.printer.show(response) { SubscriptionsCommand.record(response.subscription ?? Subscription()) }
      }
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.enableEndpoint(EnableEndpointRequest(subscription: name, replayFrom: replayFrom?.timestamp))
      }
      try connection.printer.show(response) { SubscriptionsCommand.record(response.subscription ?? Subscription()) }
    }
  }

  struct RotateSecret: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "rotate-secret",
      abstract: "Create a new secret for an endpoint. Requests are signed with both secrets until --end-older removes the older one.",
      discussion: """
        Examples:
          attributionctl subscriptions rotate-secret billing
          attributionctl subscriptions rotate-secret billing --end-older
        """)

    @Argument(help: "The subscription's name.") var name: String
    @Flag(help: "Remove the older secret; create no new one.") var endOlder = false
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      guard !dryRun else {
        let response = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
        }
        return try connection.printer.show(response) { SubscriptionsCommand.record(response.subscription ?? Subscription()) }
      }
      let request = RotateEndpointSecretRequest(
        subscription: name, endOlder: endOlder ? true : nil, makeNone: endOlder ? true : nil)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.rotateEndpointSecret(request)
      }
      try connection.printer.show(response) {
        var record = Record()
        record.add("secret", response.secret, .warning)
        for (index, time) in (response.endpointStatus?.secretsMadeAt ?? []).enumerated() {
          record.add(index == 0 ? "signing secret from" : "also signing, from", time.text)
        }
        return record
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete a subscription. Its unread events are not delivered any more.",
      discussion: "Example: attributionctl subscriptions delete billing --yes")

    @Argument(help: "The subscription's name.") var name: String
    @Flag(help: "Only show what would be done.") var dryRun = false
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.getSubscription(GetSubscriptionRequest(name: name))
      }
      let backlog = TerminalText.count(response.subscription?.backlog ?? 0, "event")
      if !dryRun {
        if !yes { try Confirmation.ask("\(name) has not read \(backlog). Delete it?") }
        _ = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.client.events.deleteSubscription(DeleteSubscriptionRequest(name: name))
        }
      }
      try connection.printer.show(["dryRun": .bool(dryRun), "deleted": .string(name)]) {
        Record([(dryRun ? "dry run" : "deleted", Cell("\(name), with \(backlog) unread"))])
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
    record.add("created", one.createdAt?.text)
    record.add("order", one.ordered == true || one.push?.ordered == true ? "by subject" : "none")
    record.add("backlog", one.backlog.map { TerminalText.count($0, "event") })
    record.add("oldest", TerminalText.age(one.oldestUnacknowledgedAgeSeconds))
    record.add("lost", one.dropped.flatMap { $0 > 0 ? TerminalText.count($0, "event") : nil }, .bad)
    record.add("endpoint", one.push?.url)
    record.add("form", one.push?.form)
    if let status = one.endpointStatus {
      record.add("state", status.state, TerminalText.state(status.state))
      record.add("since", status.since?.text)
      record.add("reason", status.reason)
      record.add("last success", status.lastSuccess?.text)
      record.add("failing since", status.failingSince?.text, .bad)
      record.add("last error", status.lastError, .bad)
    }
    return record
  }
}
