import ArgumentParser
import AttributionProtocol
import WireJSON

/// Options that name an app and one of Apple's environments.
struct AppleCallOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
  @Option(help: "Production or Sandbox; required if the app is configured for both.") var environment: String?

  func validate() throws {
    guard [nil, "Production", "Sandbox"].contains(environment) else {
      throw ValidationError("--environment must be Production or Sandbox.")
    }
  }

  /// The app and the environment for display: `com.example.app, Sandbox`.
  var text: String { environment.map { "\(bundleId), \($0)" } ?? bundleId }
}

/// Functions that all commands that call Apple share.
enum AppleCall {
  /// Reads a JSON object from a file, or from standard input.
  static func object(_ path: String) throws(CommandFailure) -> JSONObject {
    var file = try InputFile(path)
    let bytes = try file.rest()
    do throws(JSONError) {
      if let object = try JSONValue(parsing: bytes, limits: JSONLimits(depth: 64, values: 200_000)).objectValue { return object }
    } catch { throw CommandFailure(.refusedInput, "\(path): \(error)") }
    throw CommandFailure(.refusedInput, "\(path) does not contain a JSON object")
  }

  /// Shows the request in a dry run; otherwise sends it and shows the answer, or `record` in the table format.
  static func change<Request: RPCMessage, Response: RPCMessage>(
    _ options: ConnectionOptions, dryRun: Bool, _ request: Request, done record: Record,
    _ call: (Connection) async throws(RPCError) -> Response
  ) async throws {
    let connection = try Connection(options)
    guard !dryRun else {
      return try connection.printer.show(["dryRun": true, "request": try Printer.value(request)]) {
        var record = record
        record.add("dry run", "nothing was sent")
        return record
      }
    }
    let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in try await call(connection) }
    try connection.printer.show(response) { record }
  }
}
