import ArgumentParser
import AttributionProtocol
import Cryptography
import WireJSON

struct VerifyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Verify a postback, a notification, other data of the App Store, or an impression.",
    discussion: """
      The kind of the input is recognised by its format. A file may contain one input, or one input per line. With --offline, the command \
      uses Apple's published keys and root certificate, which are built in, and calls no service. Receipts are not verified; their ids are \
      shown. Exit code 0: all inputs are valid; 1: an input is invalid, or one of several cannot be read.

      Examples:
        attributionctl verify postback.json
        curl -s https://example.com/notification.json | attributionctl verify - --offline
        attributionctl verify transactions.txt --offline --bundle-id com.example.app --output json
      """)

  @Argument(help: "The file; - or no argument for standard input.", completion: .file()) var file = "-"
  @Flag(help: "Verify on this machine, with the built-in keys.") var offline = false
  @Option(help: ArgumentHelp("The bundle id that data of the App Store must have.", valueName: "id")) var bundleId: String?
  @Option(help: ArgumentHelp("The Apple id that data of the App Store must have.", valueName: "number")) var appAppleId: Int64?
  @Option(help: "The environment that data of the App Store must have: Production or Sandbox.", completion: .environments) var environment:
    String?
  @Flag(
    help:
      "Accept data of the App Store that names no app, because its source is known to be about the app of --bundle-id or --app-apple-id.")
  var trustedSource = false
  @Option(help: ArgumentHelp("With --offline: PEM file with the public key for impressions.", valueName: "file"), completion: .file())
  var publicKey: String?
  @Flag(help: "With --offline: also accept SKAdNetwork postbacks signed with a development key.") var development = false
  @Flag(help: "Show only the verdict, not the content.") var brief = false
  @OptionGroup(title: "Connection") var options: ConnectionOptions

  func validate() throws {
    if publicKey != nil || development, !offline { throw ValidationError("--public-key and --development require --offline.") }
    if let environment, !["Production", "Sandbox"].contains(environment) {
      throw ValidationError("--environment must be Production or Sandbox.")
    }
    if trustedSource, bundleId == nil, appAppleId == nil {
      throw ValidationError("--trusted-source requires --bundle-id or --app-apple-id.")
    }
  }

  func run() async throws {
    let layer = try options.resolved()
    let printer = Printer(format: layer.output ?? .table)
    let inputs = try Self.inputs(file)
    let verify: (SignedInput) async throws(CommandFailure) -> VerdictReport
    if offline {
      var local = OfflineVerifier(
        bundleId: bundleId, appAppleId: appAppleId, environment: environment, trustedSource: trustedSource, acceptsDevelopment: development)
      local.publicKey = try publicKey.map { path throws(CommandFailure) in try Self.key(path) }
      let offlineVerifier = local
      verify = { input throws(CommandFailure) in try offlineVerifier.verify(input) }
    } else {
      let service = ServiceVerifier(
        connection: try Connection(layer), bundleId: bundleId, appAppleId: appAppleId, environment: environment,
        trustedSource: trustedSource)
      verify = { input throws(CommandFailure) in try await service.verify(input) }
    }
    var reports: [VerdictReport] = []
    var line = ProgressLine(unit: "inputs", total: Double(inputs.count))
    defer { line.end() }
    for (index, input) in inputs.enumerated() {
      var report: VerdictReport
      do throws(CommandFailure) { report = try await verify(try input.parsed.get()) } catch {
        guard inputs.count > 1, error.code == ExitStatus.refusedInput.rawValue else { throw error }
        report = .unreadable(error)
      }
      if inputs.count > 1 { report.line = input.line }
      reports.append(report)
      if inputs.count > 1 { line.advance(to: Double(index + 1)) }
    }
    line.end()
    try show(reports, printer)
    if reports.contains(where: { $0.valid == false }) { throw ExitCode(ExitStatus.negative.rawValue) }
  }

  private func show(_ reports: [VerdictReport], _ printer: Printer) throws {
    if reports.count == 1, let one = reports.first {
      return try printer.show(.object(one.json)) { one.record(shows: !brief) }
    }
    try printer.show(.array(reports.map { .object($0.json) })) {
      var table = Table([Table.Column("line", isNumber: true), "kind", "verdict", "reason", "field", "environment"])
      for one in reports {
        let verdict = one.valid.map { $0 ? Cell("valid", .good) : Cell("invalid", .bad) } ?? Cell("not verified", .warning)
        table.add(Cell("\(one.line ?? 1)"), Cell(one.kind), verdict, Cell(one.reason), Cell(one.field), Cell(one.environment))
      }
      return table
    }
  }

  /// Reads the file as one input or, if that fails, as one input per line.
  static func inputs(_ path: String) throws(CommandFailure) -> [(line: Int, parsed: Result<SignedInput, CommandFailure>)] {
    var file = try InputFile(path)
    let bytes = try file.rest()
    let failure: CommandFailure
    do throws(CommandFailure) { return [(1, .success(try SignedInput(bytes)))] } catch { failure = error }
    let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated().filter { $0.element.contains { $0 > 32 } }
    guard lines.count > 1 else { throw failure }
    let inputs = lines.map { line in
      (line: line.offset + 1, parsed: Result { () throws(CommandFailure) in try SignedInput(Array(line.element)) })
    }
    // If the first line cannot be read, the file is probably one input of several lines. Then the error about the whole file explains more.
    if case .failure = inputs.first?.parsed { throw failure }
    return inputs
  }

  private static func key(_ path: String) throws(CommandFailure) -> PublicKey {
    var file = try InputFile(path)
    let text = String(decoding: try file.rest(), as: UTF8.self)
    do throws(KeyError) { return try PublicKey(pem: text) } catch { throw CommandFailure(.refusedInput, "\(path) \(error)") }
  }
}
