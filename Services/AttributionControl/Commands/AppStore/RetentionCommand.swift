import ArgumentParser
import AttributionProtocol

struct RetentionCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retention",
    abstract: "Set up Apple's retention messaging: images, messages, default messages, the URL, the performance test.",
    discussion: """
      Examples:
        attributionctl retention messages upload message.json --id 0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01 --bundle-id com.example.app --environment Sandbox
        attributionctl retention messages list --bundle-id com.example.app --environment Sandbox
        attributionctl retention performance-test start --bundle-id com.example.app --original-transaction-id 1000000000000001 --wait
      """,
    subcommands: [RetentionImagesCommand.self, RetentionMessagesCommand.self, Default.self, URLCommand.self, RetentionTestCommand.self])

  struct Default: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "default", abstract: "Set, show or delete the default message for a product and a locale.",
      discussion: """
        Example: attributionctl retention default set 0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01 --product com.example.monthly --locale en-US \
        --bundle-id com.example.app
        """, subcommands: [Set.self, Show.self, Delete.self])

    /// Options that name the app, product and locale of a default message.
    struct DefaultMessageKey: ParsableArguments {
      @Option(help: ArgumentHelp("The product's id.", valueName: "id")) var product: String
      @Option(help: ArgumentHelp("A locale's short code, such as en-US.", valueName: "code")) var locale: String
      @OptionGroup var app: AppleCallOptions

      var record: Record { Record([("app", Cell(app.text)), ("product", Cell(product)), ("locale", Cell(locale))]) }
    }

    struct Set: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the default message; it replaces the current one.",
        discussion: """
          Example: attributionctl retention default set 0f9a3c62-8d1b-4c55-9a53-0e9d5d8f6f01 --product com.example.monthly --locale en-US \
          --bundle-id com.example.app
          """)

      @Argument(help: "The message's UUID.") var message: String
      @OptionGroup var key: DefaultMessageKey
      @Flag(help: "Only show what would be sent.") var dryRun = false
      @OptionGroup(title: "Connection") var options: ConnectionOptions

      func run() async throws {
        let request = SetDefaultRetentionMessageRequest(
          bundleId: key.app.bundleId, environment: key.app.environment, productId: key.product, locale: key.locale,
          messageIdentifier: message)
        var record = key.record
        record.add("default message", Cell(message))
        try await AppleCall.change(options, dryRun: dryRun, request, done: record) { connection throws(RPCError) in
          try await connection.client.retention.setDefaultRetentionMessage(request)
        }
      }
    }

    struct Show: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the default message.",
        discussion:
          "Example: attributionctl retention default show --product com.example.monthly --locale en-US --bundle-id com.example.app")

      @OptionGroup var key: DefaultMessageKey
      @OptionGroup(title: "Connection") var options: ConnectionOptions

      func run() async throws {
        let connection = try Connection(options)
        let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.retention.getDefaultRetentionMessage(
            GetDefaultRetentionMessageRequest(
              bundleId: key.app.bundleId, environment: key.app.environment, productId: key.product, locale: key.locale))
        }
        try connection.printer.show(response) {
          var record = key.record
          record.add("environment", response.environment)
          record.add("default message", response.messageIdentifier)
          return record
        }
      }
    }

    struct Delete: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete the default message.",
        discussion:
          "Example: attributionctl retention default delete --product com.example.monthly --locale en-US --bundle-id com.example.app")

      @OptionGroup var key: DefaultMessageKey
      @Flag(help: "Only show what would be sent.") var dryRun = false
      @OptionGroup(title: "Connection") var options: ConnectionOptions

      func run() async throws {
        let request = DeleteDefaultRetentionMessageRequest(
          bundleId: key.app.bundleId, environment: key.app.environment, productId: key.product, locale: key.locale)
        try await AppleCall.change(options, dryRun: dryRun, request, done: key.record) { connection throws(RPCError) in
          try await connection.client.retention.deleteDefaultRetentionMessage(request)
        }
      }
    }
  }

  struct URLCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "url", abstract: "Set, show or delete the URL at which Apple asks in real time which message to show.",
      discussion:
        "Example: attributionctl retention url set https://ads.example.com/v1/app-store/retention/com.example.app --bundle-id com.example.app",
      subcommands: [Set.self, Show.self, Delete.self])

    struct Set: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the URL. In production, Apple requires that a performance test was passed.",
        discussion: """
          Example: attributionctl retention url set https://ads.example.com/v1/app-store/retention/com.example.app \
          --bundle-id com.example.app --environment Sandbox
          """)

      @Argument(help: "An https URL of at most 256 characters.") var url: String
      @OptionGroup var app: AppleCallOptions
      @Flag(help: "Only show what would be sent.") var dryRun = false
      @OptionGroup(title: "Connection") var options: ConnectionOptions

      func run() async throws {
        let request = SetRetentionURLRequest(bundleId: app.bundleId, environment: app.environment, realtimeUrl: url)
        try await AppleCall.change(options, dryRun: dryRun, request, done: Record([("app", Cell(app.text)), ("url", Cell(url))])) {
          connection throws(RPCError) in try await connection.client.retention.setRetentionURL(request)
        }
      }
    }

    struct Show: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the URL.",
        discussion: "Example: attributionctl retention url show --bundle-id com.example.app --environment Sandbox")

      @OptionGroup var app: AppleCallOptions
      @OptionGroup(title: "Connection") var options: ConnectionOptions

      func run() async throws {
        let connection = try Connection(options)
        let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.retention.getRetentionURL(
            GetRetentionURLRequest(bundleId: app.bundleId, environment: app.environment))
        }
        try connection.printer.show(response) {
          Record([("app", Cell(app.bundleId)), ("environment", Cell(response.environment)), ("url", Cell(response.realtimeUrl))])
        }
      }
    }

    struct Delete: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Delete the URL. Apple then shows default messages without asking.",
        discussion: "Example: attributionctl retention url delete --bundle-id com.example.app --environment Sandbox --yes")

      @OptionGroup var app: AppleCallOptions
      @Flag(help: "Do not ask for confirmation.") var yes = false
      @Flag(help: "Only show what would be sent.") var dryRun = false
      @OptionGroup(title: "Connection") var options: ConnectionOptions

      func run() async throws {
        if !yes, !dryRun { try Confirmation.ask("Apple will show only default messages for \(app.text). Continue?") }
        let request = DeleteRetentionURLRequest(bundleId: app.bundleId, environment: app.environment)
        try await AppleCall.change(options, dryRun: dryRun, request, done: Record([("app", Cell(app.text)), ("url", Cell("deleted"))])) {
          connection throws(RPCError) in try await connection.client.retention.deleteRetentionURL(request)
        }
      }
    }
  }
}

extension TerminalText {
  /// The style of a state in Apple's review.
  static func approval(_ state: String) -> CellStyle {
    switch state {
    case "APPROVED", "PASS": .good
    case "PENDING": .warning
    case "REJECTED", "FAIL": .bad
    default: .plain
    }
  }
}
