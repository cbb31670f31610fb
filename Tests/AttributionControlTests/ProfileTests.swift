import AttributionProtocol
import Foundation
import Testing

@testable import attributionctl

@Suite("Profiles")
struct ProfileTests {
  private func file(_ yaml: String) throws -> ProfileFile { try ProfileFile(yaml: yaml, path: "/etc/ctl/profiles.yaml") }

  @Test("flags override the environment, and the environment overrides the profile")
  func layers() throws {
    let profile = try #require(
      try file(
        """
        current: a
        profiles:
          a:
            addresses: { verifier: "http://v:1", signer: "http://s:1" }
            tokenFile: token
            caFile: /ca.pem
            certificateFile: own.pem
            keyFile: own.key
        """
      ).profile(nil, path: ""))
    let environment = try ConnectionLayer(environment: [
      "ATTRIBUTIONCTL_VERIFIER_URL": "http://v:2", "ATTRIBUTIONCTL_TOKEN": "from-environment", "ATTRIBUTIONCTL_OUTPUT": "json",
    ])
    var flags = ConnectionLayer()
    flags.addresses[.service(.verifier)] = "http://v:3/"
    let merged = flags.over(environment).over(profile)
    #expect(merged.url(of: .service(.verifier)) == "http://v:3")
    #expect(merged.url(of: .service(.signer)) == "http://s:1")
    #expect(merged.url(of: .publicPort) == "http://127.0.0.1:8080")
    #expect(merged.token == .text("from-environment"))
    #expect(merged.caFile == "/ca.pem" && merged.certificateFile == "/etc/ctl/own.pem" && merged.output == .json)
    #expect(ConnectionLayer().over(profile).token == .file("/etc/ctl/token"))
  }

  @Test("an address of all services overrides single addresses of a lower layer, but not those of its own layer")
  func addressOfAll() throws {
    var lower = ConnectionLayer()
    lower.addresses[.service(.signer)] = "http://old:1"
    var upper = ConnectionLayer()
    upper.address = "https://new"
    upper.addresses[.publicPort] = "https://public.example.com"
    let merged = upper.over(lower)
    #expect(merged.url(of: .service(.signer)) == "https://new:8091")
    #expect(merged.url(of: .publicPort) == "https://public.example.com")
  }

  @Test(
    "errors in the file have line and column",
    arguments: [
      ("profiles:\n  a:\n    adress: http://h\n", ":3:5: adress is not a profile setting; did you mean address?"),
      ("profiles:\n  a:\n    addresses:\n      verfier: http://h:1\n", ":4:7: verfier is not a profile setting; did you mean verifier?"),
      ("profiles:\n  a: { address: h }\n", ":2:17: address must begin with http:// or https://"),
      ("profiles:\n  a: { address: \"http://h:80\" }\n", "each service has its own port"),
      ("profiles:\n  a: { token: x, tokenFile: y }\n", "not both"), ("curent: a\n", "did you mean current?"),
      ("current: b\nprofiles: { a: {} }\n", "there is no profile b"), ("- a\n", "must contain"),
      ("profiles:\n  a: { output: xml }\n", "table, json or yaml"),
    ])
  func faults(yaml: String, message: String) throws {
    let error = #expect(throws: CommandFailure.self) { try file(yaml) }
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
    #expect(error?.code == ExitStatus.configuration.rawValue)
  }

  @Test("an unknown profile is refused with the nearest name")
  func unknown() throws {
    let file = try file("profiles: { staging: {}, production: {} }")
    let error = #expect(throws: CommandFailure.self) { try file.profile("stagin", path: "p") }
    #expect(error?.advice?.contains("Did you mean staging?") == true)
    #expect(try file.profile(nil, path: "p") == nil)
  }

  @Test("a file that others can read is refused; it is written for its owner only, and can be read back")
  func modes() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let path = folder + "/deep/profiles.yaml"
    var written = ProfileFile()
    var layer = ConnectionLayer()
    layer.addresses[.service(.verifier)] = "https://v.example.com:8092"
    layer.token = .text("0x1F")
    layer.output = .yaml
    written.names = ["null", "b"]
    written.profiles = ["null": layer, "b": ConnectionLayer()]
    written.current = "null"
    try written.write(to: path)
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    #expect(try ProfileFile(path: path) == written)
    chmod(path, 0o644)
    let error = #expect(throws: CommandFailure.self) { try ProfileFile(path: path) }
    #expect(error?.message.contains("others may read") == true)
    #expect(try ProfileFile(path: folder + "/absent.yaml") == ProfileFile())
  }

  @Test("the file's path comes from the environment, then XDG's folder, then the home folder")
  func paths() {
    #expect(ProfileFile.path(environment: ["ATTRIBUTIONCTL_PROFILES": "/a.yaml", "HOME": "/h"]) == "/a.yaml")
    #expect(ProfileFile.path(environment: ["XDG_CONFIG_HOME": "/x", "HOME": "/h"]) == "/x/attributionctl/profiles.yaml")
    #expect(ProfileFile.path(environment: ["XDG_CONFIG_HOME": "x", "HOME": "/h"]) == "/h/.config/attributionctl/profiles.yaml")
  }

  @Test(
    "invalid addresses are explained",
    arguments: ["", "h", "ftp://h", "http://", "http://u@h", "http://h:0", "http://h:70000", "http://h:x", "http://[::1"])
  func addresses(text: String) { #expect(ConnectionLayer.fault(inAddress: text, withPort: true) != nil) }

  @Test("addresses with a port, a path or an IPv6 host are accepted", arguments: ["http://h", "https://h:443/prefix", "http://[::1]:8092"])
  func rightAddresses(text: String) { #expect(ConnectionLayer.fault(inAddress: text, withPort: true) == nil) }

  @Test("two tokens in the environment and an unknown output format are refused")
  func environment() {
    #expect(throws: CommandFailure.self) {
      try ConnectionLayer(environment: ["ATTRIBUTIONCTL_TOKEN": "a", "ATTRIBUTIONCTL_TOKEN_FILE": "b"])
    }
    #expect(throws: CommandFailure.self) { try ConnectionLayer(environment: ["ATTRIBUTIONCTL_OUTPUT": "xml"]) }
    #expect(throws: CommandFailure.self) { try ConnectionLayer(environment: ["ATTRIBUTIONCTL_ADDRESS": "http://h:1"]) }
  }
}
