import ArgumentParser
import AttributionProtocol

struct ExternalPurchaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "external-purchase", abstract: "Report external purchase tokens to Apple and show the state of reports.",
    discussion: """
      Examples:
        attributionctl external-purchase send report.json --bundle-id com.example.app
        attributionctl external-purchase list --state waiting
      """, subcommands: [Send.self, Show.self, List.self, Retrieve.self])

  struct Send: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "send", abstract: "Send a report: a JSON file with Apple's ExternalPurchaseReport.",
      discussion: """
        The service stores the report and sends it until Apple has accepted or refused it. Exit code 1: Apple has refused it.

        Example: attributionctl external-purchase send report.json --bundle-id com.example.app
        """)

    @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String
    @OptionGroup var app: AppleCallOptions
    @Option(
      help: ArgumentHelp("How long to wait for Apple's answer, 0 to 30 seconds. The service continues afterwards.", valueName: "seconds"))
    var wait: Int32 = 5
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws { guard (0...30).contains(wait) else { throw ValidationError("--wait must be 0 to 30 seconds.") } }

    func run() async throws {
      let request = SendExternalPurchaseReportRequest(
        bundleId: app.bundleId, environment: app.environment, report: try AppleCall.object(file), waitMilliseconds: wait * 1000)
      let connection = try Connection(options)
      guard !dryRun else {
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(request)]) {
          Record([("app", Cell(app.text)), ("dry run", Cell("nothing was sent"))])
        }
      }
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.externalPurchases.sendExternalPurchaseReport(request)
      }
      try connection.printer.show(response) { ExternalPurchaseCommand.record(response.report) }
      if response.report?.state == "refused" { throw ExitCode(ExitStatus.negative.rawValue) }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the state of a report.",
      discussion: "Example: attributionctl external-purchase show 1cdc286e-7389-417c-b58f-7a7d196e5bbe --bundle-id com.example.app")

    @Argument(help: "The report's requestIdentifier.") var id: String
    @OptionGroup var app: AppleCallOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.externalPurchases.getExternalPurchaseReport(
          GetExternalPurchaseReportRequest(bundleId: app.bundleId, environment: app.environment, requestIdentifier: id))
      }
      try connection.printer.show(response) { ExternalPurchaseCommand.record(response.report) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List reports, newest first.",
      discussion: "Example: attributionctl external-purchase list --state refused --limit 20")

    enum State: String, ExpressibleByArgument, CaseIterable { case waiting, accepted, refused }

    @Option(help: "Only reports in this state.") var state: State?
    @OptionGroup var list: JobListOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.externalPurchases.listExternalPurchaseReports(
          ListExternalPurchaseReportsRequest(bundleId: list.bundleId, state: state?.rawValue, maxReports: list.limit))
      }
      try connection.printer.show(response, none: "There are no reports.") {
        var table = Table([
          "report", "state", "status", Table.Column("lines", isNumber: true), "app", "environment", "received", "error",
        ])
        for one in response.reports {
          table.add(
            Cell(one.requestIdentifier), Cell(one.state, ExternalPurchaseCommand.style(one.state)), Cell(one.status),
            Cell("\(one.lineItems ?? 0)"), Cell(one.bundleId), Cell(one.environment), Cell(one.receivedAt?.text), Cell(one.lastError, .bad))
        }
        return table
      }
    }
  }

  struct Retrieve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "retrieve", abstract: "Show the report that Apple has stored under an identifier.",
      discussion: "Example: attributionctl external-purchase retrieve 1cdc286e-7389-417c-b58f-7a7d196e5bbe --bundle-id com.example.app")

    @Argument(help: "The report's requestIdentifier.") var id: String
    @OptionGroup var app: AppleCallOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let found = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.externalPurchases.retrieveExternalPurchaseReport(
          RetrieveExternalPurchaseReportRequest(bundleId: app.bundleId, environment: app.environment, requestIdentifier: id))
      }
      try connection.printer.show(found) {
        var record = Record()
        for member in found.response?["report"]?.objectValue?.members ?? [] {
          record.add(member.key, member.value.stringValue ?? member.value.serializedString)
        }
        return record
      }
    }
  }

  private static func record(_ report: ExternalPurchaseReportRecord?) -> Record {
    guard let report else { return Record() }
    var record = Record([("report", Cell(report.requestIdentifier))])
    record.add("state", report.state, style(report.state))
    record.add("status", report.status)
    record.add("token", report.externalPurchaseId)
    record.add("app", "\(report.bundleId), \(report.environment)")
    record.add("lines", report.lineItems.map { "\($0)" })
    record.add("sent to Apple", TerminalText.count(Int64(report.attempts ?? 0), "time"))
    record.add("received", report.receivedAt?.text)
    record.add("completed", report.completedAt?.text)
    record.add("last error", report.lastError, .bad)
    for error in report.errors {
      let position = [error.lineItemId.map { "line \($0)" }, error.fieldName].compactMap { $0 }.joined(separator: ", ")
      record.add("Apple: \(position.isEmpty ? "report" : position)", Cell(error.errorMessage, .bad))
    }
    return record
  }

  private static func style(_ state: String) -> CellStyle {
    switch state {
    case "accepted": .good
    case "refused": .bad
    default: .warning
    }
  }
}
