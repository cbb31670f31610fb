import ArgumentParser
import AttributionProtocol
import WireJSON

extension DeliveriesCommand {
  struct Reverify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "reverify",
      abstract: "Judge rejected deliveries again, for example after an update or a change of the configuration.",
      discussion: """
        Select deliveries by their ids, by --reason, --kind, --since and --until, which are combined, or by --all. Each is queued once, as long \
        as its body is stored (queues.rejectedBytes, queues.eventRetention). The event of a verified one names the event of its rejection. A \
        delivery that is rejected again while the command runs is not queued a second time.

        Examples:
          attributionctl deliveries reverify --id 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
          attributionctl deliveries reverify --kind notification --reason wrong_app --since 2d
          attributionctl deliveries reverify --all
        """)

    @Option(name: .customLong("id"), parsing: .singleValue, help: ArgumentHelp("A delivery's id; may be repeated.", valueName: "id"))
    var ids: [String] = []
    @Option(help: "Only deliveries that were rejected for this reason, such as wrong_app.") var reason: String?
    @Option(help: "Only deliveries of this kind: skadnetwork-postback, adattributionkit-postback or notification.") var kind: String?
    @Option(help: "Only deliveries that were rejected since this time: RFC 3339, a date, or an age such as 15m, 2h or 7d.")
    var since: TimeArgument?
    @Option(help: "Only deliveries that were rejected before this time.") var until: TimeArgument?
    @Flag(help: "Select all rejected deliveries.") var all = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    /// The maximum number of ids of a call, and of deliveries of a page.
    private static let maxPerCall = 1000

    private var hasFilter: Bool { reason != nil || kind != nil || since != nil || until != nil }

    func validate() throws {
      if ids.isEmpty {
        guard all || hasFilter else { throw ValidationError("--id, --reason, --kind, --since, --until or --all is required.") }
      } else if all || hasFilter {
        throw ValidationError("--id cannot be combined with --reason, --kind, --since, --until or --all.")
      }
      if all, hasFilter { throw ValidationError("--all cannot be combined with --reason, --kind, --since or --until.") }
    }

    func run() async throws {
      let connection = try Connection(options)
      var deliveries: [ReverifiedDelivery] = []
      for start in stride(from: 0, to: ids.count, by: Self.maxPerCall) {
        let part = Array(ids[start..<min(ids.count, start + Self.maxPerCall)])
        deliveries += try await call(ReverifyDeliveriesRequest(ids: part), connection).deliveries
      }
      if ids.isEmpty { deliveries = try await allPages(connection) }
      let others = deliveries.filter { $0.state != "queued" }
      let queued = Int64(deliveries.count - others.count)
      try connection.printer.show(
        ["queued": .integer(queued), "deliveries": .array(try deliveries.map { try Printer.value($0) })]
      ) {
        var record = Record()
        record.add("queued", "\(queued)")
        for delivery in others { record.add(delivery.state, delivery.id) }
        return record
      }
      if let missing = others.first(where: { $0.state != "not_rejected" }), !ids.isEmpty {
        throw CommandFailure(.notFound, "\(missing.id) cannot be judged again: \(missing.state)")
      }
    }

    /// Queues the selected deliveries page by page.
    private func allPages(_ connection: Connection) async throws(CommandFailure) -> [ReverifiedDelivery] {
      var request = ReverifyDeliveriesRequest(reason: reason, kind: kind, maxDeliveries: Int32(Self.maxPerCall))
      request.startTime = all ? Timestamp(millisecondsSince1970: 0) : since?.timestamp
      request.endTime = until?.timestamp
      var deliveries: [ReverifiedDelivery] = []
      var line = ProgressLine(unit: "deliveries", total: nil)
      defer { line.end() }
      repeat {
        let page = try await call(request, connection)
        deliveries += page.deliveries
        line.advance(to: Double(deliveries.count))
        request.pageToken = page.nextPageToken
      } while request.pageToken != nil
      return deliveries
    }

    private func call(
      _ request: ReverifyDeliveriesRequest, _ connection: Connection
    ) async throws(CommandFailure) -> ReverifyDeliveriesResponse {
      try await connection.ask(.verifier) { () throws(RPCError) in try await connection.client.verifier.reverifyDeliveries(request) }
    }
  }
}
