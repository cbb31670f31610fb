import ArgumentParser
import AttributionProtocol

struct RetentionTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "performance-test", abstract: "Start or show Apple's test of how fast the URL answers. It runs in the sandbox.",
    discussion:
      "Example: attributionctl retention performance-test start --bundle-id com.example.app --original-transaction-id 1000000000000001 --wait",
    subcommands: [Start.self, Show.self])

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "start", abstract: "Start a test.",
      discussion: """
        With --wait, the command waits for the result. Exit code 1: the test has failed.

        Example: attributionctl retention performance-test start --bundle-id com.example.app --original-transaction-id 1000000000000001 --wait
        """)

    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: ArgumentHelp("The original transaction id of a purchase in the sandbox.", valueName: "id")) var originalTransactionId:
      String
    @Flag(help: "Wait until the test has ended.") var wait = false
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = StartRetentionPerformanceTestRequest(bundleId: bundleId, originalTransactionId: originalTransactionId)
      let record = Record([("app", Cell("\(bundleId), Sandbox")), ("purchase", Cell(originalTransactionId))])
      guard wait, !dryRun else {
        let connection = try Connection(options)
        guard !dryRun else {
          return try await AppleCall.change(options, dryRun: true, request, done: record) { connection throws(RPCError) in
            try await connection.client.retention.startRetentionPerformanceTest(request)
          }
        }
        let response = try await Self.start(request, connection)
        return try connection.printer.show(response) {
          var record = record
          record.add("test", response.requestId)
          return record
        }
      }
      let connection = try Connection(options)
      let response = try await Self.start(request, connection)
      connection.printer.note("test \(response.requestId)")
      try await Interruptible.run { try await RetentionTestCommand.follow(response.requestId, bundleId, connection) }
    }

    private static func start(
      _ request: StartRetentionPerformanceTestRequest, _ connection: Connection
    ) async throws(CommandFailure) -> StartRetentionPerformanceTestResponse {
      try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.retention.startRetentionPerformanceTest(request)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the result of a test.",
      discussion: "Example: attributionctl retention performance-test show 5f1c0c0e-3f5a-4a57-8b37-7b1a6a2b9e10 --bundle-id com.example.app"
    )

    @Argument(help: "The test's id.") var id: String
    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Flag(help: "Wait until the test has ended.") var wait = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let (id, bundleId) = (id, bundleId)
      guard wait else {
        let response = try await RetentionTestCommand.result(id, bundleId, connection)
        return try connection.printer.show(response) { RetentionTestCommand.record(id, response) }
      }
      try await Interruptible.run { try await RetentionTestCommand.follow(id, bundleId, connection) }
    }
  }

  private static func result(
    _ id: String, _ bundleId: String, _ connection: Connection
  ) async throws(CommandFailure) -> GetRetentionPerformanceTestResponse {
    try await connection.ask(.notificationRecovery) { () throws(RPCError) in
      try await connection.client.retention.getRetentionPerformanceTest(
        GetRetentionPerformanceTestRequest(bundleId: bundleId, requestId: id))
    }
  }

  /// Queries the result until the test has ended. The service delays the calls to Apple's rate: one every ten seconds in the sandbox, after
  /// a small burst.
  fileprivate static func follow(_ id: String, _ bundleId: String, _ connection: Connection) async throws {
    while true {
      let response = try await result(id, bundleId, connection)
      if response.result != "PENDING" {
        try connection.printer.show(response) { record(id, response) }
        if response.result != "PASS" { throw ExitCode(ExitStatus.negative.rawValue) }
        return
      }
      try await Task.sleep(for: .seconds(2))
    }
  }

  private static func record(_ id: String, _ test: GetRetentionPerformanceTestResponse) -> Record {
    var record = Record([("test", Cell(id))])
    record.add("result", test.result, TerminalText.approval(test.result))
    for member in test.response?.members ?? [] where member.key != "result" {
      record.add(member.key, Cell(member.value.stringValue ?? member.value.serializedString))
    }
    return record
  }
}
