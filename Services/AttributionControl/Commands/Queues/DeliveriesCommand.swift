import ArgumentParser
import AttributionProtocol
import Cryptography

struct DeliveriesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "deliveries", abstract: "Show what happened to a delivery, and judge rejected ones again.",
    discussion: """
      Examples:
        attributionctl deliveries show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
        attributionctl deliveries reverify --reason unknown_key
      """, subcommands: [Show.self, Reverify.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the history of a delivery, from its receipt to its event and the event's readers.",
      discussion: """
        The id is in the answer of ingest's public port. Records are stored for a limited time (queues.deliveryRecordTTL).

        Examples:
          attributionctl deliveries show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
          attributionctl deliveries show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9 --event
          attributionctl deliveries show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9 --body
        """)

    @Argument(help: "The delivery's id.") var id: String
    @Flag(help: "Also show the event's data.") var event = false
    @Flag(help: "Write only the body of a rejected delivery, as it was received.") var body = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      if body {
        let response = try await connection.ask(.ingest) { () throws(RPCError) in
          try await connection.client.ingest.getDelivery(GetDeliveryRequest(id: id))
        }
        guard let bytes = response.body.flatMap({ Base64.decode($0) }) else {
          throw CommandFailure(
            .notFound, "the body is not stored", advice: "Only bodies of rejected deliveries are stored, for a limited time.")
        }
        return try StandardOutput.write(bytes)
      }
      let story = try await Self.story(id, connection)
      try connection.printer.show(story) { Self.record(story) }
      try Self.showDetails(story, connection.printer, event: event)
    }

    static func story(_ id: String, _ connection: Connection) async throws(CommandFailure) -> GetDeliveryStoryResponse {
      try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.client.events.getDeliveryStory(GetDeliveryStoryRequest(id: id))
      }
    }

    static func record(_ story: GetDeliveryStoryResponse) -> Record {
      var record = Record()
      record.add("id", story.id)
      record.add("state", story.state, TerminalText.state(story.state))
      record.add("queue", story.queue)
      record.add("kind", story.kind)
      record.add("attempts", "\(story.attempts ?? 0)")
      record.add("reason", story.reason)
      record.add("last error", story.lastError, .bad)
      return record
    }

    /// Shows the steps, the readers and, if `event` is true, the event.
    static func showDetails(_ story: GetDeliveryStoryResponse, _ printer: Printer, event: Bool) throws {
      var steps = Table(["time", "step", "detail"])
      for step in story.steps {
        steps.add(Cell(step.time?.text ?? "-"), Cell(step.step, TerminalText.state(step.step)), Cell(step.detail))
      }
      try printer.text("\n" + steps.text(colours: printer.colours))
      if !story.readers.isEmpty {
        var readers = Table(["subscription", "event"])
        for reader in story.readers { readers.add(Cell(reader.subscription), Cell(reader.state, TerminalText.state(reader.state))) }
        try printer.text("\n" + readers.text(colours: printer.colours))
      }
      if event, let object = story.event {
        try printer.text("\n" + EventText(colours: printer.colours, decodes: true).text(object))
      }
    }
  }
}
