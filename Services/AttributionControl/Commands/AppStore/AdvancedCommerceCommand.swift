import ArgumentParser
import AttributionProtocol
import WireJSON

struct AdvancedCommerceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "advanced-commerce", abstract: "Call the Advanced Commerce API and show the results of calls.",
    discussion: """
      A call needs the id of a transaction of the purchase and a JSON file with the request in Apple's format. The file's \
      requestInfo.requestReferenceId identifies the call. If a call that Apple has answered is repeated with the same file, the stored \
      answer is returned and Apple is not called again. A call that Apple has refused is sent again.

      Examples:
        attributionctl advanced-commerce cancel 1000000000000001 request.json --bundle-id com.example.app --yes
        attributionctl advanced-commerce show 932c6903-0ab8-4469-9f21-015f6fab013c --bundle-id com.example.app
      """,
    subcommands: [
      ChangeMetadata.self, Migrate.self, ChangePrice.self, Cancel.self, Revoke.self, Refund.self, Show.self, List.self,
    ])

  /// The arguments of all six calls.
  struct Call: ParsableArguments {
    @Argument(help: "The id of a transaction of the purchase.") var transactionId: String
    @Argument(help: "File with the request in Apple's format, or - for standard input.", completion: .file()) var file: String
    @OptionGroup var app: AppleCallOptions
    @Flag(help: "Do not ask for confirmation.") var yes = false
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    /// Asks for confirmation if there is a question, makes the call and shows the answer.
    ///
    /// - Parameters:
    ///   - question: what the user must confirm first; nil if the call can be undone.
    ///   - makeRequest: makes the request of the service from Apple's request.
    ///   - call: calls the service.
    func run<Request: RPCMessage, Response: RPCMessage>(
      asking question: String?, _ makeRequest: (JSONObject) -> Request,
      _ call: (Connection, Request) async throws(RPCError) -> Response
    ) async throws {
      let body = try AppleCall.object(file)
      let request = makeRequest(body)
      if let question, !yes, !dryRun { try Confirmation.ask("\(question) (purchase \(transactionId) of \(app.text)). Continue?") }
      let connection = try Connection(options)
      var record = Record([("app", Cell(app.text)), ("purchase", Cell(transactionId))])
      record.add("request", body["requestInfo"]?["requestReferenceId"]?.stringValue)
      guard !dryRun else {
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(request)]) {
          var record = record
          record.add("dry run", "nothing was sent")
          return record
        }
      }
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in try await call(connection, request) }
      let value = try Printer.value(response)
      try connection.printer.show(value) {
        var record = record
        record.add("environment", value["environment"]?.stringValue)
        record.add("sent", value["repeated"]?.boolValue == true ? "earlier; not sent again" : "now")
        for payload in value["decoded"]?.arrayValue ?? [] {
          for name in ["transactionId", "productId", "expiresDate", "revocationDate", "autoRenewStatus", "renewalDate"] {
            if let found = payload[name] { record.add(name, found.stringValue ?? found.serializedString) }
          }
        }
        return record
      }
    }
  }

  struct ChangeMetadata: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "change-metadata",
      abstract: "Change names, descriptions and SKUs of a subscription (SubscriptionChangeMetadataRequest).",
      discussion: "Example: attributionctl advanced-commerce change-metadata 1000000000000001 request.json --bundle-id com.example.app")

    @OptionGroup var call: Call

    func run() async throws {
      try await call.run(asking: nil) { body in
        ChangeAdvancedCommerceMetadataRequest(
          bundleId: call.app.bundleId, environment: call.app.environment, transactionId: call.transactionId, request: body)
      } _: { connection, request throws(RPCError) in
        try await connection.client.advancedCommerce.changeAdvancedCommerceMetadata(request)
      }
    }
  }

  struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "migrate",
      abstract: "Migrate a subscription from In-App Purchase to the Advanced Commerce API (SubscriptionMigrateRequest).",
      discussion: "Example: attributionctl advanced-commerce migrate 1000000000000001 request.json --bundle-id com.example.app --yes")

    @OptionGroup var call: Call

    func run() async throws {
      try await call.run(asking: "The subscription will be migrated, which cannot be undone") { body in
        MigrateToAdvancedCommerceRequest(
          bundleId: call.app.bundleId, environment: call.app.environment, transactionId: call.transactionId, request: body)
      } _: { connection, request throws(RPCError) in
        try await connection.client.advancedCommerce.migrateToAdvancedCommerce(request)
      }
    }
  }

  struct ChangePrice: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "change-price", abstract: "Change prices, starting with the next renewal (SubscriptionPriceChangeRequest).",
      discussion: "Example: attributionctl advanced-commerce change-price 1000000000000001 request.json --bundle-id com.example.app --yes")

    @OptionGroup var call: Call

    func run() async throws {
      try await call.run(asking: "Apple will inform the customer about the new price") { body in
        ChangeAdvancedCommercePriceRequest(
          bundleId: call.app.bundleId, environment: call.app.environment, transactionId: call.transactionId, request: body)
      } _: { connection, request throws(RPCError) in
        try await connection.client.advancedCommerce.changeAdvancedCommercePrice(request)
      }
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "Cancel a subscription at the end of its current period (SubscriptionCancelRequest).",
      discussion: "Example: attributionctl advanced-commerce cancel 1000000000000001 request.json --bundle-id com.example.app --yes")

    @OptionGroup var call: Call

    func run() async throws {
      try await call.run(asking: "The subscription will not renew again") { body in
        CancelAdvancedCommerceSubscriptionRequest(
          bundleId: call.app.bundleId, environment: call.app.environment, transactionId: call.transactionId, request: body)
      } _: { connection, request throws(RPCError) in
        try await connection.client.advancedCommerce.cancelAdvancedCommerceSubscription(request)
      }
    }
  }

  struct Revoke: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "revoke", abstract: "End a subscription immediately and refund it (SubscriptionRevokeRequest).",
      discussion: "Example: attributionctl advanced-commerce revoke 1000000000000001 request.json --bundle-id com.example.app --yes")

    @OptionGroup var call: Call

    func run() async throws {
      try await call.run(asking: "The subscription will end now and be refunded") { body in
        RevokeAdvancedCommerceSubscriptionRequest(
          bundleId: call.app.bundleId, environment: call.app.environment, transactionId: call.transactionId, request: body)
      } _: { connection, request throws(RPCError) in
        try await connection.client.advancedCommerce.revokeAdvancedCommerceSubscription(request)
      }
    }
  }

  struct Refund: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "refund", abstract: "Ask Apple to refund a transaction (RequestRefundRequest).",
      discussion: "Example: attributionctl advanced-commerce refund 1000000000000001 request.json --bundle-id com.example.app --yes")

    @OptionGroup var call: Call

    func run() async throws {
      try await call.run(asking: "Apple will be asked for a refund") { body in
        RequestAdvancedCommerceRefundRequest(
          bundleId: call.app.bundleId, environment: call.app.environment, transactionId: call.transactionId, request: body)
      } _: { connection, request throws(RPCError) in
        try await connection.client.advancedCommerce.requestAdvancedCommerceRefund(request)
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a call: Apple's answer and the notifications that followed.",
      discussion: "Example: attributionctl advanced-commerce show 932c6903-0ab8-4469-9f21-015f6fab013c --bundle-id com.example.app")

    @Argument(help: "The call's requestReferenceId.") var id: String
    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.advancedCommerce.getAdvancedCommerceCall(
          GetAdvancedCommerceCallRequest(bundleId: bundleId, requestReferenceId: id))
      }
      try connection.printer.show(response) {
        let call = response.call ?? AdvancedCommerceCall()
        var record = Record([("request", Cell(call.requestReferenceId))])
        record.add("state", call.state, AdvancedCommerceCommand.style(call.state))
        record.add("operation", call.operation)
        record.add("purchase", call.transactionId)
        record.add("app", call.environment.isEmpty ? call.bundleId : "\(call.bundleId), \(call.environment)")
        record.add("started", call.startedAt?.text)
        record.add("answered", call.completedAt?.text)
        record.add("error", call.lastError, .bad)
        record.add("Apple's error name", call.errorName)
        for one in call.notifications {
          record.add(
            one.signedDate?.text ?? "notification",
            Cell("\(one.notificationType) \(one.subtype ?? "") event \(one.eventId), joined by \(one.joinedBy)"))
        }
        return record
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List calls, newest first.", discussion: "Example: attributionctl advanced-commerce list --limit 20")

    @OptionGroup var list: JobListOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.advancedCommerce.listAdvancedCommerceCalls(
          ListAdvancedCommerceCallsRequest(bundleId: list.bundleId, maxCalls: list.limit))
      }
      try connection.printer.show(response, none: "There are no calls.") {
        var table = Table(["request", "state", "operation", "purchase", "app", "environment", "started", "error"])
        for call in response.calls {
          table.add(
            Cell(call.requestReferenceId), Cell(call.state, AdvancedCommerceCommand.style(call.state)), Cell(call.operation),
            Cell(call.transactionId), Cell(call.bundleId), Cell(call.environment), Cell(call.startedAt?.text),
            Cell(call.errorName ?? call.lastError, .bad))
        }
        return table
      }
    }
  }

  private static func style(_ state: String) -> CellStyle {
    switch state {
    case "answered": .good
    case "refused": .bad
    default: .warning
    }
  }
}
