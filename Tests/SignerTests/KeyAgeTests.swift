import Cryptography
import Foundation
import Logging
import ServiceRuntime
import Testing

@testable import signer

/// A folder with keys and a configuration, which is deleted with this object.
private final class KeyFolder: Sendable {
  private let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path

  init() throws {
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Makes a key whose file was last changed at that time, milliseconds since 1970.
  func addKey(_ name: String, changed time: Int64) throws {
    let file = path + "/" + name
    try SigningKey.generate().writePEM(to: file, passphraseFile: nil)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: Double(time) / 1000)], ofItemAtPath: file)
  }

  /// A configuration with these keys of one ad network.
  func configuration(_ keys: String...) throws -> DeploymentConfiguration {
    let file = path + "/configuration.yaml"
    let text = "adNetworks:\n  - id: example123.skadnetwork\n    keys: [ \(keys.joined(separator: ", ")) ]\n"
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return try DeploymentConfiguration.load(path: file)
  }
}

@Suite struct KeyAgeTests {
  /// 2027-01-15T08:00:00Z.
  private static let now: Int64 = 1_800_000_000_000

  private let folder: KeyFolder
  private let metrics = MetricsRegistry()

  init() throws {
    folder = try KeyFolder()
    SigningMetrics.declare(metrics)
  }

  private func keyring(_ configuration: DeploymentConfiguration) throws -> LiveKeyring {
    try LiveKeyring(
      configuration, metrics: metrics, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: { Self.now })
  }

  /// The ages by key id and state, as a scrape shows them.
  private func ages() async -> [String] {
    let start = "attribution_key_age_seconds{owner=\"example123.skadnetwork\",key_id="
    return await metrics.text().split(separator: "\n").filter { $0.hasPrefix(start) }.map { String($0.dropFirst(start.count)) }
  }

  @Test func `The age is counted from the configured creation, or else from the last change of the file`() async throws {
    try folder.addKey("a.pem", changed: Self.now - 500_000)
    try folder.addKey("b.pem", changed: Self.now - 500_000)
    let keys = try keyring(
      try folder.configuration(
        "{ id: a, path: a.pem }", "{ id: b, path: b.pem, state: pending, created: 2027-01-15 }",
        "{ id: c, path: gone.pem, state: revoked, created: \"2027-01-15T07:59:59Z\" }"))
    #expect(await ages() == [#""a",state="active"} 500"#, #""b",state="pending"} 28800"#, #""c",state="revoked"} 1"#])
    withExtendedLifetime(keys) {}
  }

  @Test func `A key whose creation is not known has no age`() async throws {
    try folder.addKey("a.pem", changed: Self.now)
    // The file of a revoked key is not read.
    let keys = try keyring(try folder.configuration("{ id: a, path: a.pem }", "{ id: b, path: a.pem, state: revoked }"))
    #expect(await ages() == [#""a",state="active"} 0"#])
    withExtendedLifetime(keys) {}
  }

  @Test func `After a rotation only the present keys and states have an age`() async throws {
    for name in ["a.pem", "b.pem", "c.pem"] { try folder.addKey(name, changed: Self.now - 1000) }
    let keys = try keyring(
      try folder.configuration(
        "{ id: a, path: a.pem }", "{ id: b, path: b.pem, state: pending }", "{ id: c, path: c.pem, state: retiring }"))
    #expect(await ages().count == 3)
    try keys.replace(by: try folder.configuration("{ id: a, path: a.pem, state: retiring }", "{ id: b, path: b.pem }"))
    #expect(await ages() == [#""a",state="retiring"} 1"#, #""b",state="active"} 1"#])
    withExtendedLifetime(keys) {}
  }
}
