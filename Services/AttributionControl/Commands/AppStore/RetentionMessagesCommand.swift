import ArgumentParser
import AttributionProtocol

struct RetentionMessagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "messages", abstract: "Upload, list and delete the texts of retention messages.",
    discussion: "Example: attributionctl retention messages list --bundle-id com.example.app --environment Sandbox",
    subcommands: [Upload.self, List.self, Delete.self])

  struct Upload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "upload",
      abstract: "Upload a message: a JSON file with header, body, image, headerPosition and bulletPoints, as Apple documents them.",
      discussion: """
        Example: attributionctl retention messages upload message.json --id 0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01 --bundle-id com.example.app \
        --environment Sandbox
        """)

    @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The UUID that identifies the message.", valueName: "uuid")) var id: String
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = UploadRetentionMessageRequest(
        bundleId: app.bundleId, environment: app.environment, messageIdentifier: id, message: try AppleCall.object(file))
      try await AppleCall.change(options, dryRun: dryRun, request, done: Record([("app", Cell(app.text)), ("message", Cell(id))])) {
        connection throws(RPCError) in try await connection.client.retention.uploadRetentionMessage(request)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List messages and whether Apple approved them.",
      discussion: "Example: attributionctl retention messages list --bundle-id com.example.app --environment Sandbox")

    @OptionGroup var app: AppleCallOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.retention.listRetentionMessages(
          ListRetentionMessagesRequest(bundleId: app.bundleId, environment: app.environment))
      }
      try connection.printer.show(response, none: "There are no messages.") {
        var table = Table(["message", "state", "images", "unapproved images"])
        for message in response.messages {
          table.add(
            Cell(message.messageIdentifier), Cell(message.messageState, TerminalText.approval(message.messageState)),
            Cell(message.imageIdentifiers.isEmpty ? "" : String(message.imageIdentifiers.count)),
            Cell(message.unapprovedImageIdentifiers.joined(separator: " ")))
        }
        return table
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete a message.",
      discussion: "Example: attributionctl retention messages delete 0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01 --bundle-id com.example.app --yes"
    )

    @Argument(help: "The message's UUID.") var id: String
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      if !yes, !dryRun { try Confirmation.ask("Message \(id) of \(app.text) will be deleted. Continue?") }
      let request = DeleteRetentionMessageRequest(bundleId: app.bundleId, environment: app.environment, messageIdentifier: id)
      try await AppleCall.change(options, dryRun: dryRun, request, done: Record([("app", Cell(app.text)), ("deleted", Cell(id))])) {
        connection throws(RPCError) in try await connection.client.retention.deleteRetentionMessage(request)
      }
    }
  }
}
