import ArgumentParser
import AttributionProtocol
import Cryptography

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
      commandName: "default", abstract: "The default message for a product and a locale.",
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
      commandName: "url", abstract: "The URL at which Apple asks in real time which message to show.",
      discussion:
        "Example: attributionctl retention url set https://ads.example.com/v1/app-store/retention/com.example.app --bundle-id com.example.app",
      subcommands: [Set.self, Show.self, Delete.self])

    struct Set: AsyncParsableCommand {
      static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set the URL. In production, Apple requires a passed performance test.",
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
        commandName: "delete", abstract: "Delete the URL: Apple then shows default messages without asking.",
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

struct RetentionImagesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "images", abstract: "Upload, list and delete images for retention messages.",
    discussion: "Example: attributionctl retention images list --bundle-id com.example.app --environment Sandbox",
    subcommands: [Upload.self, List.self, Delete.self])

  struct Upload: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "upload", abstract: "Upload a PNG file without transparency.",
      discussion: """
        Example: attributionctl retention images upload coast.png --id 3c6a1f07-1c53-4d2d-9fd0-2a5f0c2a9d11 --bundle-id com.example.app \
        --environment Sandbox
        """)

    enum Size: String, ExpressibleByArgument, CaseIterable {
      case full = "FULL_SIZE"
      case bulletPoint = "BULLET_POINT"
    }

    /// The largest image in bytes: in Base64 it still fits into a request of 16 MiB.
    private static let maxImageBytes = 12_578_816

    @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The UUID that identifies the image.", valueName: "uuid")) var id: String
    @Option(help: "FULL_SIZE: 3840 pixels wide, 160 to 2160 high. BULLET_POINT: 1024 by 1024 pixels.") var size: Size = .full
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      var input = try InputFile(file)
      let bytes = try input.rest()
      guard bytes.count <= Self.maxImageBytes else {
        throw CommandFailure(.refusedInput, "\(file) has \(bytes.count) bytes; an image may have at most \(Self.maxImageBytes)")
      }
      let request = UploadRetentionImageRequest(
        bundleId: app.bundleId, environment: app.environment, imageIdentifier: id, imageSize: size.rawValue, image: Base64.encode(bytes))
      let record = Record([
        ("app", Cell(app.text)), ("image", Cell(id)), ("size", Cell(size.rawValue)), ("bytes", Cell("\(bytes.count)")),
      ])
      try await AppleCall.change(options, dryRun: dryRun, request, done: record) { connection throws(RPCError) in
        try await connection.client.retention.uploadRetentionImage(request)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List images and whether Apple approved them.",
      discussion: "Example: attributionctl retention images list --bundle-id com.example.app --environment Sandbox")

    @OptionGroup var app: AppleCallOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.retention.listRetentionImages(
          ListRetentionImagesRequest(bundleId: app.bundleId, environment: app.environment))
      }
      try connection.printer.show(response, none: "There are no images.") {
        var table = Table(["image", "state", "size"])
        for image in response.images {
          table.add(Cell(image.imageIdentifier), Cell(image.imageState, TerminalText.approval(image.imageState)), Cell(image.imageSize))
        }
        return table
      }
    }
  }

  struct Delete: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "delete", abstract: "Delete an image that no message uses.",
      discussion: "Example: attributionctl retention images delete 3c6a1f07-1c53-4d2d-9fd0-2a5f0c2a9d11 --bundle-id com.example.app --yes")

    @Argument(help: "The image's UUID.") var id: String
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      if !yes, !dryRun { try Confirmation.ask("Image \(id) of \(app.text) will be deleted. Continue?") }
      let request = DeleteRetentionImageRequest(bundleId: app.bundleId, environment: app.environment, imageIdentifier: id)
      try await AppleCall.change(options, dryRun: dryRun, request, done: Record([("app", Cell(app.text)), ("deleted", Cell(id))])) {
        connection throws(RPCError) in try await connection.client.retention.deleteRetentionImage(request)
      }
    }
  }
}

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

struct RetentionTestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "performance-test", abstract: "Apple's test of how fast the URL answers. It runs in the sandbox.",
    discussion:
      "Example: attributionctl retention performance-test start --bundle-id com.example.app --original-transaction-id 1000000000000001 --wait",
    subcommands: [Start.self, Show.self])

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "start", abstract: "Start a test.",
      discussion: """
        With --wait, the exit code is 1 if the test fails.

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

  /// Polls until the test has ended. Apple allows one such call every ten seconds in the sandbox, with a small burst.
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
