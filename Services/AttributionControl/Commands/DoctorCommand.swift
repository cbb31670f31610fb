import ArgumentParser
import AttributionProtocol
import Synchronization
import WireJSON

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Find problems with services, Redis, clocks, certificates, Apple, queues and the feed.",
    discussion: """
      Each service checks itself and what it depends on. Each problem is shown with what to do about it. With --bundle-id, the command \
      instead requests a test notification from Apple and follows it to the feed. Exit code 0: no problem, or only warnings; 1: a problem; \
      10 and above: a specific problem (Documentation/attributionctl.md).

      Examples:
        attributionctl doctor
        attributionctl doctor --problems --output json
        attributionctl doctor --bundle-id com.example.app --environment Sandbox
      """)

  @Flag(help: "Show only warnings and problems.") var problems = false
  @Flag(help: "Check only the services themselves and Redis: no service calls Apple or another service.") var localOnly = false
  @Option(help: ArgumentHelp("Request a test notification for the app with this bundle id and follow it.", valueName: "id")) var bundleId:
    String?
  @Option(help: "Production or Sandbox, for the test notification.", completion: .environments) var environment = "Production"
  @Option(
    help: ArgumentHelp(
      "The notification URL in App Store Connect; if the test fails, it is also called from this machine.", valueName: "url"))
  var notificationUrl: String?
  @Option(help: ArgumentHelp("How long to wait for the event after Apple's delivery of the test notification.", valueName: "seconds"))
  var wait = 60
  @OptionGroup(title: "Connection") var options: ConnectionOptions

  func validate() throws {
    guard ["Production", "Sandbox"].contains(environment) else { throw ValidationError("--environment must be Production or Sandbox.") }
    guard (0...86_400).contains(wait) else { throw ValidationError("--wait must be 0 to 86400 seconds.") }
    if notificationUrl != nil, bundleId == nil { throw ValidationError("--notification-url requires --bundle-id.") }
    if let notificationUrl, let fault = ConnectionLayer.fault(inAddress: notificationUrl, withPort: true) {
      throw ValidationError("--notification-url \(fault).")
    }
  }

  func run() async throws {
    let connection = try Connection(options)
    if let bundleId { return try await sendTestNotification(bundleId, connection) }
    let findings = await SystemCheckup(connection: connection, localOnly: localOnly).findings()
    try show(findings, connection.printer)
    // The exit code is that of the finding that explains most. If a service is unavailable, its dependencies could not be checked.
    let failed = findings.filter { $0.state == .failed }
    for code in [DoctorCode.serviceUnavailable, DoctorCode.tokenRefused] where failed.contains(where: { $0.code == code }) {
      throw ExitCode(code)
    }
    if let first = failed.first { throw ExitCode(first.code) }
  }

  private func show(_ findings: [DoctorFinding], _ printer: Printer) throws {
    let shown = problems ? findings.filter { $0.state != .ok } : findings
    let isWell = !findings.contains { $0.state == .failed }
    let warnings = findings.count { $0.state == .warning }
    try printer.show(["well": .bool(isWell), "findings": .array(shown.map { .object($0.json) })], none: "There are no problems.") {
      var table = Table(["state", "where", "check", "found"])
      for finding in shown {
        table.add(
          Cell(finding.state.rawValue, TerminalText.state(finding.state.rawValue)), Cell(finding.place), Cell(finding.check),
          Cell(finding.found)
        )
      }
      return table
    }
    let advised = findings.filter { $0.state != .ok && $0.advice != nil }
    guard printer.format == .table else { return }
    if !advised.isEmpty {
      var text = "\nWhat to do:\n"
      for (places, advice) in Self.grouped(advised) {
        text += "  \(Cell.printable(places)): \(Cell.printable(advice))\n"
      }
      try printer.text(text)
    }
    let verdict = isWell ? (warnings == 0 ? "OK" : "OK, with \(TerminalText.count(Int64(warnings), "warning"))") : "NOT OK"
    try printer.text("\n" + (isWell ? CellStyle.good : .bad).painted(verdict, colours: printer.colours) + "\n")
  }

  /// Groups findings by their advice, so that each piece of advice is shown once.
  static func grouped(_ findings: [DoctorFinding]) -> [(places: String, advice: String)] {
    findings.reduce(into: []) { groups, finding in
      let (place, advice) = ("\(finding.place), \(finding.check)", finding.advice ?? "")
      if let index = groups.firstIndex(where: { $0.advice == advice }) {
        groups[index].places += "; " + place
      } else {
        groups.append((place, advice))
      }
    }
  }

  private func sendTestNotification(_ bundleId: String, _ connection: Connection) async throws {
    let printer = connection.printer
    let steps = Mutex<[String]>([])
    try printer.text("\(bundleId), \(environment)\n")
    let note: @Sendable (String) -> Void = { step in
      steps.withLock { $0.append(step) }
      try? printer.text("  \(step)\n")
    }
    let work = TestNotificationCheck(
      connection: connection, bundleId: bundleId, environment: environment, timeout: .seconds(wait), note: note)
    let url = notificationUrl
    do {
      try await Interruptible.run { try await work.run() }
    } catch let failure as CommandFailure {
      if let url { note("from this machine: " + (await TestNotificationCheck.reachability(of: url, http: connection.http))) }
      try showVerdict(failure, steps.withLock { $0 }, printer)
      throw ExitCode(failure.code)
    }
    try showVerdict(nil, steps.withLock { $0 }, printer)
  }

  /// Shows the result of the test notification. JSON and YAML contain all steps; in the table format they have already been shown.
  private func showVerdict(_ failure: CommandFailure?, _ steps: [String], _ printer: Printer) throws {
    if printer.format == .table {
      guard let failure else {
        return try printer.text(
          CellStyle.good.painted("OK", colours: printer.colours) + ": notifications arrive and are published on the feed\n")
      }
      var text = CellStyle.bad.painted("NOT OK (\(failure.code))", colours: printer.colours) + ": \(Cell.printable(failure.message))\n"
      if let advice = failure.advice { text += "  \(advice)\n" }
      return try printer.text(text)
    }
    var object: JSONObject = ["well": .bool(failure == nil), "steps": .array(steps.map { .string($0) })]
    object["code"] = .integer(failure?.code ?? 0)
    object["found"] = (failure?.message).map { .string($0) }
    object["advice"] = (failure?.advice).map { .string($0) }
    try printer.show(.object(object)) { Record() }
  }
}
