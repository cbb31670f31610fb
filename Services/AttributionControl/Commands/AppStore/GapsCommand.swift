import ArgumentParser
import AttributionProtocol

struct GapsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gaps", abstract: "List gaps in subscriptions' histories and how they were closed.",
    discussion: """
      Examples:
        attributionctl gaps --bundle-id com.example.app
        attributionctl gaps --state suspected --bundle-id com.example.app --limit 500
      """)

  enum State: String, ExpressibleByArgument, CaseIterable { case suspected, recovered, unrecoverable }

  @Option(help: "Only gaps in this state.") var state: State?
  @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
  @Option(help: ArgumentHelp("Maximum number of gaps, newest first.", valueName: "count")) var limit = 100
  @OptionGroup(title: "Connection") var options: ConnectionOptions

  func validate() throws { guard (1...100_000).contains(limit) else { throw ValidationError("--limit must be 1 to 100000.") } }

  func run() async throws {
    let connection = try Connection(options)
    var gaps = ListGapsResponse()
    var token: String?
    repeat {
      let request = ListGapsRequest(
        bundleId: bundleId, maxGaps: Int32(min(1000, limit - gaps.gaps.count)), pageToken: token, state: state?.rawValue)
      let page = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.listGaps(request)
      }
      gaps.gaps += page.gaps
      token = page.nextPageToken
    } while token != nil && gaps.gaps.count < limit
    gaps.nextPageToken = token
    let found = gaps
    try connection.printer.show(found, none: "There are no matching gaps.") {
      var table = Table(["found", "state", "purchase", "environment", "rule", "missing", "ended by"])
      for gap in found.gaps {
        table.add(
          Cell(gap.suspectedAt?.text), Cell(gap.state, TerminalText.state(gap.state)), Cell(gap.originalTransactionId),
          Cell(gap.environment),
          Cell(gap.rule), Cell(gap.missing), Cell(gap.repairedBy ?? gap.lastError))
      }
      return table
    }
    if token != nil { connection.printer.note("There are more gaps; raise --limit to see them.") }
  }
}
