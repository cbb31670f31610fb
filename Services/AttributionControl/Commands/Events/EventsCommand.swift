import ArgumentParser
import AttributionClient
import AttributionProtocol
import Cryptography
import ServiceRuntime
import WireJSON

struct EventsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "events", abstract: "Follow the feed, export a time range, show one event.",
    discussion: """
      Examples:
        attributionctl events tail --type postback --decode
        attributionctl events export --from 24h --to now --file day.jsonl
        attributionctl events show skadnetwork:example123.skadnetwork:6aafb7a5-0170-41b5-bbe4-fe71dedf1e28
      """, subcommands: [Tail.self, EventsExportCommand.self, Show.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show an event by its id, as long as the feed stores it.",
      discussion: "Example: attributionctl events show appstore:Production:002e14d5-51f5-4503-b5a8-c3a1af68eb20")

    @Argument(help: "The event's id.") var id: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.getEvent(GetEventRequest(id: id))
      }
      let event = response.event ?? [:]
      guard connection.printer.format == .table else { return try connection.printer.show(.object(event)) { Record() } }
      try connection.printer.text(EventText(colours: connection.printer.colours, decodes: true).text(event))
    }
  }

  struct Tail: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "tail", abstract: "Show events as they are published.",
      discussion: """
        The command creates its own subscription and deletes it at the end, so it does not affect other readers. Ctrl-C ends it. With \
        --output json, each event is one line.

        Examples:
          attributionctl events tail
          attributionctl events tail --type rejected --decode
          attributionctl events tail --since 1h --no-follow --output json | jq .data.reason
        """)

    @OptionGroup var selection: EventSelection
    @Option(help: ArgumentHelp("Begin with events from this time: RFC 3339, or an age such as 10m.", valueName: "time"))
    var since: TimeArgument?
    @Flag(inversion: .prefixedNo, help: "Wait for more events.") var follow = true
    @Option(help: ArgumentHelp("Stop after this number of events.", valueName: "count")) var max: Int?
    @Flag(help: "Show the events' data, with signed payloads decoded.") var decode = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      if let max, max < 1 { throw ValidationError("--max must be at least 1.") }
      if !follow, since == nil { throw ValidationError("--no-follow requires --since: without it, there are no events to show.") }
    }

    func run() async throws {
      let connection = try Connection(options)
      let (selection, since, follow, limit) = (selection, since, follow, max)
      let text = EventText(colours: connection.printer.colours, decodes: decode)
      let request = CreateSubscriptionRequest(
        name: "attributionctl-tail-\(Hex.encode(RandomBytes.make(6)))", types: try selection.types(),
        start: since == nil ? "now" : nil, filter: selection.filter, startTime: since?.timestamp)
      try await Interruptible.run {
        try await Self.read(connection, request, follow: follow, limit: limit ?? .max, text)
      }
    }

    /// Creates the subscription, shows its events until `limit` or Ctrl-C, and deletes the subscription.
    private static func read(
      _ connection: Connection, _ request: CreateSubscriptionRequest, follow: Bool, limit: Int, _ text: EventText
    ) async throws {
      let events = connection.client.events
      let name = request.name ?? ""
      _ = try await connection.ask(.verifier) { () throws(RPCError) in try await events.createSubscription(request) }
      if follow { connection.printer.note("following the feed; press Ctrl-C to stop") }
      let result: Result<Void, any Error>
      do {
        var remaining = limit
        while remaining > 0 {
          try Task.checkCancellation()
          let response = try await connection.ask(.verifier) { () throws(RPCError) in
            try await events.pullEvents(
              PullEventsRequest(subscription: name, maxEvents: Int32(min(remaining, 100)), waitMilliseconds: follow ? 20_000 : 500))
          }
          for pulled in response.events {
            let event = pulled.event ?? [:]
            try connection.printer.stream(.object(event)) { text.text(event) }
          }
          remaining -= response.events.count
          if !response.events.isEmpty {
            _ = try await connection.ask(.verifier) { () throws(RPCError) in
              try await events.acknowledgeEvents(AcknowledgeEventsRequest(subscription: name, ackIds: response.events.map(\.ackId)))
            }
          } else if !follow {
            break
          }
        }
        result = .success(())
      } catch { result = .failure(error) }
      // The subscription must be deleted even if the current task was cancelled: an unstructured task does not inherit the cancellation.
      await Task {
        _ = try? await events.deleteSubscription(DeleteSubscriptionRequest(name: name), options: CallOptions(timeout: .seconds(5)))
      }
      .value
      try result.get()
    }
  }
}

/// Formats an event for people: one line, and on request the lines of its data.
struct EventText: Sendable {
  let colours: Bool
  /// True if the data is shown too, with its signed payloads decoded.
  let decodes: Bool

  func text(_ object: JSONObject) -> String {
    let event = CloudEvent(object)
    let style: CellStyle = event.type.contains("rejected") || event.type.contains("failed") ? .bad : .good
    let time = CellStyle.faint.painted(Cell.printable(event.time?.text ?? ""), colours: colours)
    let type = style.painted(Cell.printable(event.type), colours: colours)
    var text = "\(time)  \(type)  \(Cell.printable(event.subject ?? "-"))  \(Cell.printable(event.id))"
    let summary = Self.summary(event.data)
    if !summary.isEmpty { text += "  " + Cell.printable(summary) }
    text += "\n"
    guard decodes else { return text }
    return text + Self.lines(.object(Self.decoded(event.data)), indent: "    ")
  }

  /// The most important members of the data in one line.
  static func summary(_ data: JSONObject) -> String {
    var parts: [String] = []
    for name in ["reason", "notificationType", "subtype", "state", "environment"] {
      if let text = data[name]?.stringValue ?? data["payload"]?[name]?.stringValue { parts.append("\(name)=\(text)") }
    }
    for name in ["source-identifier", "campaign-id", "conversion-value", "coarse-conversion-value", "did-win"] {
      if let value = data["postback"]?[name] ?? data["postback"]?["payload"]?[name] {
        parts.append("\(name)=\(value.stringValue ?? value.serializedString)")
      }
    }
    return parts.joined(separator: " ")
  }

  /// Replaces every compact JWS in the data by its decoded payload.
  static func decoded(_ object: JSONObject) -> JSONObject {
    JSONObject(object.members.map { JSONObject.Member(key: $0.key, value: decoded($0.value)) })
  }

  private static func decoded(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object): return .object(decoded(object))
    case .array(let elements): return .array(elements.map(decoded))
    case .string(let text):
      // A shorter text cannot be a signed payload, so it is not parsed.
      guard text.utf8.count > 40, let jws = try? CompactJWS(text), let payload = try? JSONValue(parsing: jws.payload),
        case .object(let object) = payload
      else { return value }
      return .object(decoded(object))
    default: return value
    }
  }

  /// One line per value, indented by its depth.
  private static func lines(_ value: JSONValue, indent: String) -> String {
    guard case .object(let object) = value else { return indent + Cell.printable(value.stringValue ?? value.serializedString) + "\n" }
    var text = ""
    for member in object.members {
      switch member.value {
      case .object(let inner) where !inner.isEmpty:
        text += indent + Cell.printable(member.key) + "\n" + lines(member.value, indent: indent + "  ")
      default:
        text +=
          indent + Cell.printable(member.key) + ": " + Cell.printable(member.value.stringValue ?? member.value.serializedString) + "\n"
      }
    }
    return text
  }
}
