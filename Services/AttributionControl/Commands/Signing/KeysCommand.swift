import ArgumentParser
import AttributionProtocol

struct KeysCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keys", abstract: "Keys that sign, by state and use; their public halves.",
    discussion: """
      Examples:
        attributionctl keys
        attributionctl keys list --state active
        attributionctl keys show dev-1 > public.pem
      """, subcommands: [List.self, Show.self], defaultSubcommand: List.self)

  enum State: String, ExpressibleByArgument, CaseIterable { case pending, active, retiring, revoked }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "All keys (the default).",
      discussion: "Example: attributionctl keys list --ad-network example123.skadnetwork")

    @Option(help: "Only in this state.") var state: State?
    @Option(help: ArgumentHelp("Only of this ad network.", valueName: "id")) var adNetwork: String?
    @Option(help: ArgumentHelp("Only of this app.", valueName: "id")) var bundleId: String?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      var answer = try await KeysCommand.keys(connection, ListSigningKeysRequest(adNetworkId: adNetwork, bundleId: bundleId))
      if let state { answer.keys.removeAll { $0.state != state.rawValue } }
      try connection.printer.show(answer, none: "There is no such key.") {
        var table = Table(["id", "state", "use", "owner", "algorithm"])
        for key in answer.keys {
          table.add(
            Cell(key.keyId), Cell(key.state, DisplayFormat.state(key.state)), Cell(key.use), Cell(key.adNetworkId ?? key.bundleId),
            Cell(key.algorithm))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "The public half of a key, as Apple's registration asks for it.",
      discussion: "Example: attributionctl keys show dev-1 --ad-network example123.skadnetwork")

    @Argument(help: "The key's id.") var id: String
    @Option(help: ArgumentHelp("Of this ad network, where several have a key of that id.", valueName: "id")) var adNetwork: String?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let answer = try await KeysCommand.keys(connection, ListSigningKeysRequest(adNetworkId: adNetwork))
      let found = answer.keys.filter { $0.keyId == id }
      guard let key = found.first else { throw CommandFailure(.notFound, "there is no key \(id)") }
      guard found.count == 1 else {
        let owners = found.compactMap { $0.adNetworkId ?? $0.bundleId }
        throw CommandFailure(
          .refusedInput, "\(found.count) keys have the id \(id): \(owners.joined(separator: ", "))", advice: "--ad-network says which.")
      }
      guard connection.printer.format == .table else { return try connection.printer.show(key) { Record() } }
      guard !key.publicKey.isEmpty else { throw CommandFailure(.notFound, "the public half of a revoked key is not kept") }
      try connection.printer.text(key.publicKey.hasSuffix("\n") ? key.publicKey : key.publicKey + "\n")
    }
  }

  private static func keys(_ connection: Connection, _ request: ListSigningKeysRequest) async throws(CommandFailure)
    -> ListSigningKeysResponse
  {
    try await connection.ask(.signer) { () throws(RPCError) in try await connection.client.signer.listSigningKeys(request) }
  }
}
