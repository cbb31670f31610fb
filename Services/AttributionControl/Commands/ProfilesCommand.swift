import ArgumentParser
import AttributionProtocol
import WireJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ProfilesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profiles", abstract: "Show and change profiles: named systems with the addresses of their services and a token.",
    discussion: """
      Profiles are stored in ~/.config/attributionctl/profiles.yaml, or in the file that ATTRIBUTIONCTL_PROFILES names. Only its owner may \
      read it.

      Examples:
        attributionctl profiles set production --address https://attribution.internal --token-file ~/.attribution-token --ca-file ca.pem
        attributionctl profiles use production
        attributionctl queues --profile staging
      """, subcommands: [List.self, Show.self, Set.self, Use.self, Remove.self], defaultSubcommand: List.self)

  /// Reads the file of profiles and returns it with its path.
  static func file() throws(CommandFailure) -> (path: String, file: ProfileFile) {
    let path = ProfileFile.path(environment: ProcessInfo.processInfo.environment)
    return (path, try ProfileFile(path: path))
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List all profiles (the default).", discussion: "Example: attributionctl profiles list")

    @OptionGroup var output: OutputOptions

    func run() async throws {
      let (_, file) = try ProfilesCommand.file()
      let all = file.names.map { name -> JSONValue in
        var object: JSONObject = ["name": .string(name), "current": .bool(name == file.current)]
        for member in file.profiles[name]?.json(hidesToken: true).members ?? [] { object[member.key] = member.value }
        return .object(object)
      }
      try Printer(format: output.output ?? .table).show(
        ["profiles": .array(all)], none: "There is no profile; attributionctl profiles set creates one."
      ) {
        var table = Table(["", "name", "verifier", "token"])
        for name in file.names {
          let layer = file.profiles[name] ?? ConnectionLayer()
          let token =
            switch layer.token {
            case .text: "in the file"
            case .file(let path): path
            case nil: "none"
            }
          table.add(name == file.current ? "*" : "", Cell(name), Cell(layer.url(of: .service(.verifier))), Cell(token))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show the settings that a command would use from flags, environment and profile. The token is hidden.",
      discussion: "Example: attributionctl profiles show --profile staging")

    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let layer = try options.resolved()
      var object: JSONObject = layer.json(hidesToken: true)
      object["address"] = nil
      let addresses = ConnectionLayer.Destination.all.map { JSONObject.Member(key: $0.name, value: .string(layer.url(of: $0))) }
      object["addresses"] = .object(JSONObject(addresses))
      try Printer(format: layer.output ?? .table).show(.object(object)) {
        var record = Record()
        for member in addresses { record.add(member.key, member.value.stringValue) }
        for member in object.members where member.key != "addresses" { record.add(member.key, member.value.stringValue) }
        return record
      }
    }
  }

  struct Set: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "set", abstract: "Create or replace a profile.",
      discussion: """
        The first profile becomes the current one. A token that is read from standard input is stored in the file.

        Examples:
          attributionctl profiles set staging --address http://10.0.0.5 --token-file /etc/attribution/token
          attributionctl profiles set local --url verifier=http://127.0.0.1:8092 --token-stdin < token
        """)

    @Argument(help: "The profile's name.") var name: String
    @Flag(help: "Read the token from standard input and store it in the file.") var tokenStdin = false
    @Flag(help: "Only show what would be written.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      guard options.profile == nil else { throw ValidationError("This command does not take --profile: give the name as an argument.") }
      if tokenStdin, options.tokenFile != nil { throw ValidationError("Use either --token-stdin or --token-file, not both.") }
    }

    func run() async throws {
      var (path, file) = try ProfilesCommand.file()
      var layer = options.layer
      if tokenStdin {
        var input = try InputFile("-")
        let token = String(decoding: try input.rest(), as: UTF8.self).filter { !$0.isWhitespace }
        guard !token.isEmpty else { throw CommandFailure(.refusedInput, "there is no token on standard input") }
        layer.token = .text(token)
      }
      // An argument is relative to the working directory, but a path in the file is relative to the file's folder. So the absolute path is
      // stored.
      func absolute(_ path: String?) -> String? {
        path.map { $0.hasPrefix("/") ? $0 : FileManager.default.currentDirectoryPath + "/" + $0 }
      }
      if case .file(let path) = layer.token { layer.token = absolute(path).map { .file($0) } }
      layer.caFile = absolute(layer.caFile)
      layer.certificateFile = absolute(layer.certificateFile)
      layer.keyFile = absolute(layer.keyFile)
      if file.profiles[name] == nil { file.names.append(name) }
      file.profiles[name] = layer
      if file.current == nil { file.current = name }
      if !dryRun { try file.write(to: path) }
      let shown = layer.json(hidesToken: true)
      try Printer(format: .table).show(.object(shown)) {
        var record = Record([(dryRun ? "would write" : "wrote", Cell(path)), ("profile", Cell(name))])
        for member in shown.members where member.value.stringValue != nil { record.add(member.key, member.value.stringValue) }
        return record
      }
    }
  }

  struct Use: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "use", abstract: "Make a profile the current one, which is used if none is named.",
      discussion: "Example: attributionctl profiles use staging")

    @Argument(help: "The profile's name.", completion: .profiles) var name: String
    @Flag(help: "Only show what would be done.") var dryRun = false

    func run() async throws {
      var (path, file) = try ProfilesCommand.file()
      _ = try file.profile(name, path: path)
      file.current = name
      if !dryRun { try file.write(to: path) }
      try Printer(format: .table).show([:]) { Record([(dryRun ? "would be current" : "current", Cell(name))]) }
    }
  }

  struct Remove: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "remove", abstract: "Remove a profile from the file.", discussion: "Example: attributionctl profiles remove staging")

    @Argument(help: "The profile's name.", completion: .profiles) var name: String
    @Flag(help: "Only show what would be done.") var dryRun = false

    func run() async throws {
      var (path, file) = try ProfilesCommand.file()
      _ = try file.profile(name, path: path)
      file.names.removeAll { $0 == name }
      file.profiles[name] = nil
      if file.current == name { file.current = nil }
      if !dryRun { try file.write(to: path) }
      try Printer(format: .table).show([:]) { Record([(dryRun ? "would be removed" : "removed", Cell(name))]) }
    }
  }
}
