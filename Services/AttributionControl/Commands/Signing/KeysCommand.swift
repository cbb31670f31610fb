import ArgumentParser
import AttributionProtocol

struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "List signing keys by state and use; show public keys.",
    discussion: """
      Examples:
        attributionctl keys
        attributionctl keys list --state active
        attributionctl keys show dev-1 > public.pem
      """, subcommands: [List.self, Show.self], defaultSubcommand: List.self)

  enum State: String, ExpressibleByArgument, CaseIterable { case pending, active, retiring, revoked }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List all keys (the default).",
      discussion: "Example: attributionctl keys list --ad-network example123.skadnetwork")

    @Option(help: "Only keys in this state.") var state: State?
    @Option(help: ArgumentHelp("Only keys of this ad network.", valueName: "id")) var adNetwork: String?
    @Option(help: ArgumentHelp("Only keys of the app with this bundle id.", valueName: "id")) var bundleId: String?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      var response = try await KeysCommand.keys(connection, ListSigningKeysRequest(adNetworkId: adNetwork, bundleId: bundleId))
      if let state { response.keys.removeAll { $0.state != state.rawValue } }
      try connection.printer.show(response, none: "There are no matching keys.") {
        var table = Table(["id", "state", "use", "owner", "algorithm"])
        for key in response.keys {
          table.add(
            Cell(key.keyId), Cell(key.state, TerminalText.state(key.state)), Cell(key.use), Cell(key.adNetworkId ?? key.bundleId),
            Cell(key.algorithm))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the public key in the format that Apple requires for registration.",
      discussion: "Example: attributionctl keys show dev-1 --ad-network example123.skadnetwork")

    @Argument(help: "The key's id.") var id: String
    @Option(help: ArgumentHelp("The ad network, if several have a key with this id.", valueName: "id")) var adNetwork: String?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await KeysCommand.keys(connection, ListSigningKeysRequest(adNetworkId: adNetwork))
      let found = response.keys.filter { $0.keyId == id }
      guard let key = found.first else { throw CommandFailure(.notFound, "there is no key \(id)") }
      guard found.count == 1 else {
        let owners = found.compactMap { $0.adNetworkId ?? $0.bundleId }
        throw CommandFailure(
          .refusedInput, "\(found.count) keys have the id \(id): \(owners.joined(separator: ", "))", advice: "Choose one with --ad-network."
        )
      }
      guard connection.printer.format == .table else { return try connection.printer.show(key) { Record() } }
      guard !key.publicKey.isEmpty else { throw CommandFailure(.notFound, "the public key of a revoked key is not stored") }
      try connection.printer.text(key.publicKey.hasSuffix("\n") ? key.publicKey : key.publicKey + "\n")
    }
  }

  private static func keys(_ connection: Connection, _ request: ListSigningKeysRequest) async throws(CommandFailure)
    -> ListSigningKeysResponse
  {
    try await connection.ask(.signer) { () throws(RPCError) in try await connection.client.signer.listSigningKeys(request) }
  }
}
