import ArgumentParser
import AttributionProtocol
import WireJSON

struct SignCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sign", abstract: "Let signer sign an impression, an offer or a token.",
    discussion: """
      Examples:
        attributionctl sign skadnetwork --ad-network example123.skadnetwork --source-identifier 5239 --item 525463029 --source-app 1234567891
        attributionctl sign adattributionkit --ad-network example123.adattributionkit --source-identifier 5239 --item 525463029 --publisher 1234567891
        attributionctl sign token --bundle-id com.example.app
      """,
    subcommands: [
      SKAdNetwork.self, Web.self, AdAttributionKit.self, ServerToken.self, Offer.self, OfferJWS.self, IntroductoryOffer.self,
      AdvancedCommerce.self,
    ])

  struct SKAdNetwork: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "skadnetwork", abstract: "Sign a SKAdNetwork impression, version 1.0 to 4.0.",
      discussion: """
        The output contains every value that was signed. `attributionctl verify` accepts it unchanged.

        Examples:
          attributionctl sign skadnetwork --ad-network example123.skadnetwork --source-identifier 5239 --item 525463029 --source-app 1234567891
          attributionctl sign skadnetwork --ad-network example123.skadnetwork --protocol-version 3.0 --campaign 39 --item 525463029 --source-app 0 -o json | attributionctl verify
        """)

    @Option(help: ArgumentHelp("The ad network's id.", valueName: "id")) var adNetwork: String
    @Option(
      help: ArgumentHelp("The version of SKAdNetwork.", valueName: "version"),
      completion: .list(["1.0", "2.0", "2.1", "2.2", "3.0", "4.0"]))
    var protocolVersion = "4.0"
    @Option(help: ArgumentHelp("The campaign, 1 to 100; for versions up to 3.0.", valueName: "number")) var campaign: Int32?
    @Option(help: ArgumentHelp("The source identifier, 0 to 9999; for version 4.0.", valueName: "number")) var sourceIdentifier: Int32?
    @Option(help: ArgumentHelp("The advertised app's Apple id.", valueName: "number")) var item: Int64
    @Option(help: ArgumentHelp("The Apple id of the app that shows the ad; 0 for a development impression.", valueName: "number"))
    var sourceApp: Int64?
    @Option(help: ArgumentHelp("1 for StoreKit-rendered, 0 for view-through ads; for versions from 2.2 (default: 1).", valueName: "type"))
    var fidelity: Int32?
    @Option(help: ArgumentHelp("A UUID (default: a new one).", valueName: "uuid")) var nonce: String?
    @Option(help: ArgumentHelp("Milliseconds since 1970 (default: now).", valueName: "time")) var timestamp: Int64?
    @Flag(help: "Sign the timestamp even if it differs from now by more than a day.") var anyTimestamp = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let hasFidelity = !["1.0", "2.0", "2.1"].contains(protocolVersion)
      let request = SignSKAdNetworkImpressionRequest(
        version: protocolVersion, adNetworkId: adNetwork, campaignId: campaign, sourceIdentifier: sourceIdentifier, itunesItemId: item,
        sourceAppId: sourceApp, fidelityType: fidelity ?? (hasFidelity ? 1 : nil), nonce: nonce, timestamp: timestamp,
        anyTimestamp: anyTimestamp ? true : nil)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signSKAdNetworkImpression(request)
      }
    }
  }

  struct Web: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "web", abstract: "Sign the payload of a web ad (SKAdNetwork 4.0).",
      discussion:
        "Example: attributionctl sign web --ad-network example123.skadnetwork --source-identifier 5239 --item 525463029 --domain example.com"
    )

    @Option(help: ArgumentHelp("The ad network's id.", valueName: "id")) var adNetwork: String
    @Option(help: ArgumentHelp("The source identifier, 0 to 9999.", valueName: "number")) var sourceIdentifier: Int32
    @Option(help: ArgumentHelp("The advertised app's Apple id.", valueName: "number")) var item: Int64
    @Option(help: ArgumentHelp("The domain of the site that shows the ad.", valueName: "domain")) var domain: String?
    @Option(help: ArgumentHelp("Milliseconds since 1970 (default: now).", valueName: "time")) var timestamp: Int64?
    @Flag(help: "Sign the timestamp even if it differs from now by more than a day.") var anyTimestamp = false
    @Flag(help: "Store the payload until the device requests it, instead of signing it now.") var deferred = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = SignSKAdNetworkWebImpressionRequest(
        version: "4.0", adNetworkId: adNetwork, sourceIdentifier: sourceIdentifier, itunesItemId: item,
        sourceDomain: deferred ? nil : domain, timestamp: timestamp, deferred: deferred ? true : nil,
        sourceDomains: deferred ? domain.map { [$0] } ?? [] : [], anyTimestamp: anyTimestamp ? true : nil)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signSKAdNetworkWebImpression(request)
      }
    }
  }

  struct AdAttributionKit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "adattributionkit", abstract: "Sign an AdAttributionKit impression as a compact JWS.",
      discussion: """
        Example: attributionctl sign adattributionkit --ad-network example123.adattributionkit --source-identifier 5239 --item 525463029 \
        --publisher 1234567891
        """)

    @Option(help: ArgumentHelp("The ad network's id.", valueName: "id")) var adNetwork: String
    @Option(help: ArgumentHelp("The source identifier, 0 to 9999.", valueName: "number")) var sourceIdentifier: Int32
    @Option(help: ArgumentHelp("The advertised app's Apple id.", valueName: "number")) var item: Int64
    @Option(help: ArgumentHelp("The Apple id of the app that shows the ad; 0 for a development impression.", valueName: "number"))
    var publisher: Int64
    @Flag(help: "Make the impression eligible for re-engagement.") var reEngagement = false
    @Option(help: ArgumentHelp("A UUID (default: a new one).", valueName: "uuid")) var impressionId: String?
    @Option(help: ArgumentHelp("Milliseconds since 1970 (default: now).", valueName: "time")) var timestamp: Int64?
    @Flag(help: "Sign the timestamp even if it differs from now by more than a day.") var anyTimestamp = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = SignAdAttributionKitImpressionRequest(
        adNetworkId: adNetwork, sourceIdentifier: sourceIdentifier, advertisedItemId: item, publisherItemId: publisher,
        impressionType: "app-impression", eligibleForReEngagement: reEngagement, impressionId: impressionId,
        timestamp: timestamp, anyTimestamp: anyTimestamp ? true : nil)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signAdAttributionKitImpression(request)
      }
    }
  }

  struct ServerToken: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "token", abstract: "Create a token for the App Store Server API.",
      discussion: "Example: attributionctl sign token --bundle-id com.example.app --lifetime 600 -o json | jq -r .token")

    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: ArgumentHelp("The token's lifetime in seconds, up to 3600.", valueName: "seconds")) var lifetime: Int32?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = CreateAppStoreServerTokenRequest(bundleId: bundleId, lifetimeSeconds: lifetime)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.createAppStoreServerToken(request)
      }
    }
  }

  struct Offer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "offer", abstract: "Sign a promotional offer in the original format.",
      discussion: "Example: attributionctl sign offer --bundle-id com.example.app --product com.example.monthly --offer spring")

    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: ArgumentHelp("The product's id.", valueName: "id")) var product: String
    @Option(help: ArgumentHelp("The offer's id.", valueName: "id")) var offer: String
    @Option(help: ArgumentHelp("The user's name in the app.", valueName: "name")) var username: String?
    @Option(help: ArgumentHelp("The app account token, instead of --username.", valueName: "uuid")) var appAccountToken: String?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = SignPromotionalOfferRequest(
        bundleId: bundleId, productIdentifier: product, offerIdentifier: offer,
        applicationUsername: username ?? (appAccountToken == nil ? "" : nil), appAccountToken: appAccountToken)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signPromotionalOffer(request)
      }
    }
  }

  struct OfferJWS: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "offer-jws", abstract: "Sign a promotional offer in the JWS format.",
      discussion: "Example: attributionctl sign offer-jws --bundle-id com.example.app --product com.example.monthly --offer spring")

    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: ArgumentHelp("The product's id.", valueName: "id")) var product: String
    @Option(help: ArgumentHelp("The offer's id.", valueName: "id")) var offer: String
    @Option(help: ArgumentHelp("The id of any transaction of the customer.", valueName: "id")) var transactionId: String?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = SignPromotionalOfferJWSRequest(
        bundleId: bundleId, productId: product, offerIdentifier: offer, transactionId: transactionId)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signPromotionalOfferJWS(request)
      }
    }
  }

  struct IntroductoryOffer: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "introductory-offer", abstract: "Sign whether a customer is eligible for an introductory offer.",
      discussion:
        "Example: attributionctl sign introductory-offer --bundle-id com.example.app --product com.example.monthly --transaction-id 1000000000000001 --allow"
    )

    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: ArgumentHelp("The product's id.", valueName: "id")) var product: String
    @Option(help: ArgumentHelp("The id of any transaction of the customer.", valueName: "id")) var transactionId: String
    @Flag(inversion: .prefixedNo, help: "Whether the customer is eligible.") var allow: Bool
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let request = SignIntroductoryOfferEligibilityRequest(
        bundleId: bundleId, productId: product, allowIntroductoryOffer: allow, transactionId: transactionId)
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signIntroductoryOfferEligibility(request)
      }
    }
  }

  struct AdvancedCommerce: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "advanced-commerce", abstract: "Sign an Advanced Commerce request; its bytes are signed unchanged.",
      discussion: "Example: attributionctl sign advanced-commerce request.json --bundle-id com.example.app")

    @Argument(help: "File with the request, or - for standard input.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      var input = try InputFile(file)
      let request = SignAdvancedCommerceRequestRequest(
        bundleId: bundleId, requestText: String(decoding: try input.rest(), as: UTF8.self))
      try await SignCommand.sign(options) { (connection) throws(RPCError) in
        try await connection.client.signer.signAdvancedCommerceRequest(request)
      }
    }
  }

  /// Calls a method of signer and shows every member of its answer.
  private static func sign<Response: RPCMessage>(
    _ options: ConnectionOptions, _ call: (Connection) async throws(RPCError) -> Response
  ) async throws {
    let connection = try Connection(options)
    let response = try await connection.ask(.signer) { () throws(RPCError) in try await call(connection) }
    try connection.printer.show(response) {
      var record = Record()
      for member in (try? Printer.value(response))?.objectValue?.members ?? [] {
        record.add(member.key, Cell(member.value.stringValue ?? member.value.serializedString))
      }
      return record
    }
  }
}
