import Cryptography
import ServiceRuntime
import WireJSON
import Yams

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The file of profiles: each is a named system with its addresses and credentials. The file may contain tokens, so only its owner may read
/// it. Paths in it are relative to its folder.
struct ProfileFile: Sendable, Hashable {
  /// The profile that is used if none is named.
  var current: String?
  /// The names in the order of the file.
  var names: [String] = []
  var profiles: [String: ConnectionLayer] = [:]

  /// The settings of a profile.
  private static let keys: Set<String> = ["address", "addresses", "token", "tokenFile", "caFile", "certificateFile", "keyFile", "output"]

  /// The path of the file: the given one, or `attributionctl/profiles.yaml` in XDG's folder for configuration.
  static func path(environment: [String: String]) -> String {
    if let path = environment["ATTRIBUTIONCTL_PROFILES"], !path.isEmpty { return path }
    if let folder = environment["XDG_CONFIG_HOME"], folder.hasPrefix("/") { return folder + "/attributionctl/profiles.yaml" }
    return (environment["HOME"] ?? "") + "/.config/attributionctl/profiles.yaml"
  }

  init() {}

  /// Reads the file. If there is none, the list of profiles is empty.
  init(path: String) throws(CommandFailure) {
    let bytes: [UInt8]
    do throws(KeyFileError) { bytes = try PrivateFile.bytes(path) } catch {
      if case .absent = error {
        self.init()
        return
      }
      throw CommandFailure(.configuration, error.text("profile file"), advice: "Run chmod 600 \(path): the file may contain tokens.")
    }
    try self.init(yaml: String(decoding: bytes, as: UTF8.self), path: path)
  }

  /// Reads the file's text; errors name the path, the line and the column.
  init(yaml: String, path: String) throws(CommandFailure) {
    func fail(_ node: Node?, _ reason: String) -> CommandFailure {
      let position = node?.mark.map { "\(path):\($0.line):\($0.column)" } ?? path
      return CommandFailure(.configuration, "\(position): \(reason)")
    }
    func unknown(_ key: Node, _ known: Set<String>) -> CommandFailure {
      let name = key.string ?? ""
      let nearest = Spelling.nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? ""
      return fail(key, "\(name) is not a profile setting\(nearest)")
    }
    func text(_ node: Node, _ name: String) throws(CommandFailure) -> String {
      guard let text = node.scalar?.string, !text.isEmpty else { throw fail(node, "\(name) must be a string") }
      return text
    }
    self.init()
    let root: Node?
    do { root = try Yams.compose(yaml: yaml) } catch { throw CommandFailure(.configuration, "\(path) is not YAML: \(error)") }
    guard let root else { return }
    guard let members = root.mapping else { throw fail(root, "must contain `current` and `profiles`") }
    let folder = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : "."
    func resolved(_ file: String) -> String { file.hasPrefix("/") ? file : folder + "/" + file }
    for (key, value) in members {
      switch key.string {
      case "current": current = try text(value, "current")
      case "profiles":
        guard let found = value.mapping else { throw fail(value, "profiles must be a mapping of names") }
        for (name, settings) in found {
          guard let name = name.scalar?.string, !name.isEmpty else { throw fail(name, "a profile has no name") }
          guard let settings = settings.mapping else { throw fail(settings, "profile \(name) must be a mapping") }
          var layer = ConnectionLayer()
          for (key, value) in settings {
            let setting = key.string ?? ""
            switch setting {
            case "addresses":
              guard let addresses = value.mapping else { throw fail(value, "addresses must be a mapping of services") }
              for (service, url) in addresses {
                guard let destination = service.string.flatMap(ConnectionLayer.Destination.init) else {
                  throw unknown(service, Set(ConnectionLayer.Destination.all.map(\.name)))
                }
                let address = try text(url, destination.name)
                if let fault = ConnectionLayer.fault(inAddress: address, withPort: true) { throw fail(url, "\(destination.name) \(fault)") }
                layer.addresses[destination] = address
              }
            case "address":
              let address = try text(value, setting)
              if let fault = ConnectionLayer.fault(inAddress: address, withPort: false) { throw fail(value, "address \(fault)") }
              layer.address = address
            case "token", "tokenFile":
              guard layer.token == nil else { throw fail(key, "use either token or tokenFile, not both") }
              let token = try text(value, setting)
              layer.token = setting == "token" ? .text(token) : .file(resolved(token))
            case "caFile": layer.caFile = resolved(try text(value, setting))
            case "certificateFile": layer.certificateFile = resolved(try text(value, setting))
            case "keyFile": layer.keyFile = resolved(try text(value, setting))
            case "output":
              guard let format = OutputFormat(rawValue: try text(value, setting)) else {
                throw fail(value, "output must be table, json or yaml")
              }
              layer.output = format
            default: throw unknown(key, Self.keys)
            }
          }
          names.append(name)
          profiles[name] = layer
        }
      default: throw unknown(key, ["current", "profiles"])
      }
    }
    if let current, profiles[current] == nil { throw CommandFailure(.configuration, "\(path): there is no profile \(current)") }
  }

  /// The profile with this name or, without a name, the current one. Nil if there is no current profile either.
  func profile(_ name: String?, path: String) throws(CommandFailure) -> ConnectionLayer? {
    guard let name = name ?? current else { return nil }
    if let profile = profiles[name] { return profile }
    let nearest = Spelling.nearest(to: name, among: names).map { "Did you mean \($0)? " } ?? ""
    throw CommandFailure(
      .configuration, "there is no profile \(name) in \(path)",
      advice: nearest
        + (names.isEmpty ? "Create one with attributionctl profiles set." : "Existing profiles: \(names.joined(separator: ", "))."))
  }

  /// The file's text, in which tokens are readable.
  var yaml: String {
    var root = JSONObject()
    if let current { root["current"] = .string(current) }
    var all = JSONObject()
    for name in names { if let layer = profiles[name] { all[name] = .object(layer.json(hidesToken: false)) } }
    root["profiles"] = .object(all)
    return YAMLText.text(.object(root))
  }

  /// Replaces the file as a whole. It has its mode before anything is written to it, so that nobody else can read a token.
  func write(to path: String) throws(CommandFailure) {
    let folder = path.contains("/") ? String(path[..<path.lastIndex(of: "/")!]) : "."
    do { try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true) } catch {
      throw CommandFailure(.cannotWrite, "\(folder) cannot be created")
    }
    try StoredFile.replace(path, with: Array(yaml.utf8), mode: 0o600)
  }
}

extension ConnectionLayer {
  /// The settings as they are written in a profile.
  func json(hidesToken: Bool) -> JSONObject {
    var object = JSONObject()
    object["address"] = address.map { .string($0) }
    if !addresses.isEmpty {
      let sorted = Destination.all.compactMap { destination in
        addresses[destination].map { JSONObject.Member(key: destination.name, value: .string($0)) }
      }
      object["addresses"] = .object(JSONObject(sorted))
    }
    switch token {
    case .text(let token): object["token"] = .string(hidesToken ? "(hidden)" : token)
    case .file(let path): object["tokenFile"] = .string(path)
    case nil: break
    }
    object["caFile"] = caFile.map { .string($0) }
    object["certificateFile"] = certificateFile.map { .string($0) }
    object["keyFile"] = keyFile.map { .string($0) }
    object["output"] = output.map { .string($0.rawValue) }
    return object
  }
}
