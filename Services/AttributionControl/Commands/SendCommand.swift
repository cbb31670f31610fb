import ArgumentParser
import AttributionProtocol
import HTTPClient
import Cryptography
import WireJSON

struct SendCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "send", abstract: "Send a test delivery, as a device, the App Store or an SDK would, and follow it to its event.",
    discussion: """
      Examples:
        attributionctl send postback --wait
        attributionctl send notification --bundle-id com.example.app --environment Sandbox
        attributionctl send session --bundle-id com.example.app --install-id test-1 --att-status 3 --dry-run
      """, subcommands: [PostbackCommand.self, NotificationCommand.self, TokenCommand.self, SessionCommand.self])

  /// The options that all subcommands share, and their common work: a POST to ingest's public port, and the display of the outcome.
  struct Sending: ParsableArguments {
    @Flag(help: "Only show what would be sent.") var dryRun = false
    @Flag(help: "Wait until the delivery is finished, and show its history.") var wait = false
    @Option(help: ArgumentHelp("Maximum time to wait, in seconds.", valueName: "seconds")) var timeout = 30
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws { guard (1...3600).contains(timeout) else { throw ValidationError("--timeout must be 1 to 3600 seconds.") } }

    /// Posts the body, shows the answer and, with `--wait`, the history of the delivery.
    func post(_ path: String, _ body: [UInt8], contentType: String = "application/json") async throws {
      let connection = try Connection(options)
      let url = connection.layer.url(of: .publicPort) + path
      guard !dryRun else {
        let text = String(decoding: body, as: UTF8.self)
        let value = (try? JSONValue(parsing: body)) ?? .string(text)
        return try connection.printer.show(["dryRun": true, "url": .string(url), "contentType": .string(contentType), "body": value]) {
          Record([
            ("dry run", Cell("POST \(url)")), ("type", Cell(contentType)),
            ("body", Cell(text.split(whereSeparator: \.isNewline).joined(separator: " "))),
          ])
        }
      }
      let response: HTTPClientResponse
      do throws(HTTPClientError) {
        response = try await connection.http.send(
          HTTPClientRequest(method: "POST", url: url, headers: [("Content-Type", contentType)], body: body))
      } catch {
        throw CommandFailure(
          .unavailable, "ingest's public port does not answer at \(url): \(error)", advice: "Set its address with --url public=URL.")
      }
      guard (200...299).contains(response.status) else {
        throw CommandFailure(RPCError(body: response.body, httpStatus: response.status), service: "ingest's public port at \(url)")
      }
      let receipt = (try? JSONValue(parsing: response.body)) ?? [:]
      guard wait, let id = receipt["id"]?.stringValue else {
        return try connection.printer.show(receipt) {
          var record = Record()
          record.add("delivery", receipt["id"]?.stringValue)
          let status = receipt["status"]?.stringValue ?? ""
          record.add("status", Cell(status, TerminalText.state(status)))
          return record
        }
      }
      try await follow(id, connection)
    }

    /// Queries the delivery until it is finished or the time is over, and shows its history.
    private func follow(_ id: String, _ connection: Connection) async throws {
      let deadline = ContinuousClock.now + .seconds(timeout)
      var pause: Duration = .milliseconds(50)
      while true {
        let story = try await DeliveriesCommand.Show.story(id, connection)
        if story.state != "accepted" || ContinuousClock.now >= deadline {
          try connection.printer.show(story) { DeliveriesCommand.Show.record(story) }
          try DeliveriesCommand.Show.showDetails(story, connection.printer, event: false)
          switch story.state {
          case "rejected", "dead": throw ExitCode(ExitStatus.negative.rawValue)
          case "accepted":
            throw CommandFailure(
              .tryLater, "the delivery is not finished after \(timeout) s",
              advice: "Run attributionctl deliveries show \(id) to check again.")
          default: return
          }
        }
        try await Task.sleep(for: pause)
        pause = min(pause * 2, .seconds(1))
      }
    }
  }

  struct PostbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "postback", abstract: "Send a postback of SKAdNetwork or AdAttributionKit.",
      discussion: """
        Without a file, the command sends the example from Apple's documentation, which has a valid signature. If it is sent a second \
        time, it is a duplicate.

        Examples:
          attributionctl send postback --wait
          attributionctl send postback captured.json --dry-run
        """)

    @Argument(help: "The file, or - for standard input.", completion: .file()) var file: String?
    @Option(help: ArgumentHelp("Send the postback to the URL of this ad network.", valueName: "id")) var adNetwork: String?
    @OptionGroup var sending: Sending

    func run() async throws {
      var body = Array(TestPostback.text.utf8)
      if let file {
        var input = try InputFile(file)
        body = try input.rest()
      }
      try await sending.post(adNetwork.map { "/v1/postbacks/\(SendCommand.escaped($0))" } ?? "/v1/postbacks", body)
    }
  }

  struct NotificationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "notification", abstract: "Send an App Store notification from a file, or request a test notification from Apple.",
      discussion: """
        Only Apple can sign a notification. Without a file, the command requests a test notification (RequestTestNotification), which \
        Apple sends to the URL in App Store Connect. `attributionctl doctor --bundle-id` follows that notification.

        Examples:
          attributionctl send notification captured.json --wait
          attributionctl send notification --bundle-id com.example.app --environment Sandbox
        """)

    @Argument(help: "File with a signedPayload, or - for standard input.", completion: .file()) var file: String?
    @Option(
      help: ArgumentHelp(
        "The app's bundle id: Apple sends a test notification for this app, or the file is sent to this app's URL.", valueName: "id"))
    var bundleId: String?
    @Option(help: "Production or Sandbox, for a test notification.", completion: .environments) var environment = "Production"
    @OptionGroup var sending: Sending

    func validate() throws {
      guard file != nil || bundleId != nil else { throw ValidationError("A file or --bundle-id is required.") }
      guard ["Production", "Sandbox"].contains(environment) else { throw ValidationError("--environment must be Production or Sandbox.") }
    }

    func run() async throws {
      if let file {
        var input = try InputFile(file)
        var body = try input.rest()
        // A bare JWS is wrapped in the object in which Apple sends it.
        if let jws = try? SignedInput(body), case .appStore(let text, .notification) = jws {
          body = JSONValue.object(["signedPayload": .string(text)]).serialized
        }
        return try await sending.post(
          bundleId.map { "/v1/app-store/notifications/\(SendCommand.escaped($0))" } ?? "/v1/app-store/notifications", body)
      }
      let connection = try Connection(sending.options)
      let request = RequestTestNotificationRequest(bundleId: bundleId, environment: environment)
      guard !sending.dryRun else {
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(request)]) {
          Record([("dry run", Cell("Apple would be asked for a test notification of \(bundleId ?? "")"))])
        }
      }
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.requestTestNotification(request)
      }
      try connection.printer.show(response) { Record([("test notification", Cell(response.testNotificationToken))]) }
    }
  }

  struct TokenCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "token", abstract: "Send an AdServices token, as an app would.",
      discussion: """
        Examples:
          attributionctl send token token.txt --bundle-id com.example.app --wait
          echo "$TOKEN" | attributionctl send token - --bundle-id com.example.app --att-status 3
        """)

    @Argument(help: "File with the token, or - for standard input.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: ArgumentHelp("The SDK's id of the install.", valueName: "id")) var installId: String?
    @Option(help: ArgumentHelp("ATTrackingManager.AuthorizationStatus, 0 to 3.", valueName: "status")) var attStatus: Int64?
    @OptionGroup var sending: Sending

    func run() async throws {
      var input = try InputFile(file)
      let token = String(decoding: try input.rest(), as: UTF8.self).filter { !$0.isWhitespace }
      var body: JSONObject = ["token": .string(token), "bundleId": .string(bundleId)]
      body["installId"] = installId.map { .string($0) }
      body["attStatus"] = attStatus.map { .integer($0) }
      try await sending.post("/v1/adservices/tokens", JSONValue.object(body).serialized)
    }
  }

  struct SessionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "session", abstract: "Send an SDK session with its ATT status.",
      discussion: """
        Examples:
          attributionctl send session --bundle-id com.example.app --install-id test-1 --att-status 3 --wait
          attributionctl send session session.json
        """)

    @Argument(help: "File with the session, or - for standard input.", completion: .file()) var file: String?
    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String?
    @Option(help: ArgumentHelp("The id of the install.", valueName: "id")) var installId: String?
    @Option(help: ArgumentHelp("ATTrackingManager.AuthorizationStatus, 0 to 3.", valueName: "status")) var attStatus: Int64 = 0
    @OptionGroup var sending: Sending

    func validate() throws {
      guard (file == nil) == (bundleId != nil && installId != nil) else {
        throw ValidationError("A file, or --bundle-id and --install-id, is required.")
      }
    }

    func run() async throws {
      if let file {
        var input = try InputFile(file)
        return try await sending.post("/v1/sessions", try input.rest())
      }
      let body: JSONObject = [
        "bundleId": .string(bundleId ?? ""), "installId": .string(installId ?? ""), "attStatus": .integer(attStatus),
        "event": "attributionctl-test",
      ]
      try await sending.post("/v1/sessions", JSONValue.object(body).serialized)
    }
  }

  /// Percent-encodes a path segment, except for the unreserved characters of RFC 3986.
  static func escaped(_ text: String) -> String {
    text.utf8.map { byte in
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
        String(UnicodeScalar(byte))
      default: "%" + Hex.encode([byte]).uppercased()
      }
    }.joined()
  }
}

/// The postback of Apple's documentation (Combining parameters for SKAdNetwork 4 postbacks), signed by Apple.
enum TestPostback {
  static let text = """
    {"version":"4.0","ad-network-id":"com.example","source-identifier":"5239","app-id":525463029,\
    "transaction-id":"6aafb7a5-0170-41b5-bbe4-fe71dedf1e30","redownload":false,"source-domain":"example.com","fidelity-type":1,\
    "did-win":true,"conversion-value":63,"postback-sequence-index":0,\
    "attribution-signature":"MEUCIGRmSMrqedNu6uaHyhVcifs118R5z/AB6cvRaKrRRHWRAiEAv96ne3dKQ5kJpbsfk4eYiePmrZUU6sQmo+7zfP/1Bxo="}
    """
}
