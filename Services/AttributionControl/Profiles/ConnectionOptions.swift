import ArgumentParser
import AttributionProtocol

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A service and its address: `verifier=https://verifier.internal:8092`.
struct NamedAddress: ExpressibleByArgument, Sendable, Hashable {
  let destination: ConnectionLayer.Destination
  let url: String

  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), let destination = ConnectionLayer.Destination(String(argument[..<equals])) else {
      return nil
    }
    let url = String(argument[argument.index(after: equals)...])
    guard ConnectionLayer.fault(inAddress: url, withPort: true) == nil else { return nil }
    self.destination = destination
    self.url = url
  }
}

/// Flags of every command that calls a service.
struct ConnectionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The profile to use.", valueName: "name"), completion: .profiles)
  var profile: String?
  @Option(help: ArgumentHelp("Scheme and host of all services; each is called at its default port.", valueName: "url"))
  var address: String?
  @Option(
    name: .customLong("url"), parsing: .singleValue,
    help: ArgumentHelp(
      "Address of one service: signer, verifier, ingest, notification-recovery, asa-token-broker or public; may be repeated.",
      valueName: "service=url"))
  var urls: [NamedAddress] = []
  @Option(
    help: ArgumentHelp(
      "File with the caller's token. There is no flag for the token itself: other users could see it in the process list.",
      valueName: "file"),
    completion: .file())
  var tokenFile: String?
  @Option(help: ArgumentHelp("PEM file with the trust anchors to use instead of the system's.", valueName: "file"), completion: .file())
  var caFile: String?
  @Option(help: ArgumentHelp("PEM file with the caller's client certificate.", valueName: "file"), completion: .file())
  var certificateFile: String?
  @Option(help: ArgumentHelp("PEM file with the certificate's private key.", valueName: "file"), completion: .file())
  var keyFile: String?
  @OptionGroup var outputOptions: OutputOptions

  func validate() throws {
    if let address, let fault = ConnectionLayer.fault(inAddress: address, withPort: false) { throw ValidationError("--address \(fault).") }
    if (certificateFile == nil) != (keyFile == nil) { throw ValidationError("--certificate-file and --key-file must be used together.") }
  }

  /// The settings that the flags give.
  var layer: ConnectionLayer {
    var layer = ConnectionLayer()
    layer.address = address
    for url in urls { layer.addresses[url.destination] = url.url }
    layer.token = tokenFile.map { .file($0) }
    layer.caFile = caFile
    layer.certificateFile = certificateFile
    layer.keyFile = keyFile
    layer.output = outputOptions.output
    return layer
  }

  /// Combines the settings of all sources: flags take precedence over the environment, and the environment over the profile.
  func resolved(environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) -> ConnectionLayer {
    let path = ProfileFile.path(environment: environment)
    let name = profile ?? environment["ATTRIBUTIONCTL_PROFILE"].flatMap { $0.isEmpty ? nil : $0 }
    let stored = try ProfileFile(path: path).profile(name, path: path) ?? ConnectionLayer()
    return layer.over(try ConnectionLayer(environment: environment)).over(stored)
  }
}

extension CompletionKind {
  /// Completes the names of existing profiles.
  static var profiles: CompletionKind {
    .custom { _, _, _ in
      (try? ProfileFile(path: ProfileFile.path(environment: ProcessInfo.processInfo.environment)).names) ?? []
    }
  }

  static var environments: CompletionKind { .list(["Production", "Sandbox"]) }
}

/// The option for the output format.
struct OutputOptions: ParsableArguments {
  @Option(name: [.short, .long], help: "table, json or yaml (default: the profile's format, or table).")
  var output: OutputFormat?
}
