import ArgumentParser
import Cryptography
import ServiceRuntime

/// The executable: without a subcommand it serves.
@main
struct SignerCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "signer", abstract: "Signs ad impressions, App Store Server API tokens and offers.",
    subcommands: [Serve.self, KeyGen.self, PubKey.self], defaultSubcommand: Serve.self)

  struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Serve RPC (the default). Settings come from ATTRIBUTION_* variables and the file that ATTRIBUTION_CONFIG names.")

    func run() async {
      await ServiceMain.run(.signer) { environment in try ServiceParts.signer(environment) }
    }
  }

  /// Ends the command with a word on what is wrong, without a usage text: the command was right.
  static func refuse(_ error: any Error) -> ExitCode {
    var standardError = StandardError()
    print("signer: \(error)", to: &standardError)
    return ExitCode(78)
  }
}
