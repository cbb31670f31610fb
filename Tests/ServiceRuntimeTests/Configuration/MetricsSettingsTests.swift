import Cryptography
import Testing

@testable import ServiceRuntime

@Suite struct MetricsSettingsTests {
  private static let digest = String(repeating: "0a", count: 32)

  private func configuration(_ yaml: String) throws -> DeploymentConfiguration {
    try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: ".")
  }

  @Test func `Without the section no token is required`() throws {
    #expect(try configuration("{}").metrics == MetricsSettings())
    #expect(try configuration("metrics: {}").metrics.tokenDigests.isEmpty)
  }

  @Test func `One digest or a list is read`() throws {
    let bytes = [UInt8](repeating: 10, count: 32)
    #expect(try configuration("metrics: { tokenSHA256: \"\(Self.digest)\" }").metrics.tokenDigests == [bytes])
    #expect(try configuration("metrics: { tokenSHA256: [\"\(Self.digest)\", \"\(Self.digest)\"] }").metrics.tokenDigests == [bytes, bytes])
  }

  @Test(arguments: ["[]", "\"abc\"", "\"\"", "[\"00\"]", "{ a: b }"])
  func `Anything else is refused by its name`(value: String) {
    let error = #expect(throws: ConfigurationError.self) { try configuration("metrics: { tokenSHA256: \(value) }") }
    #expect(error?.place == "metrics.tokenSHA256")
  }

  @Test func `An unknown key is reported`() throws {
    #expect(try configuration("metrics: { token: secret }").unknownKeys.map(\.path) == ["metrics.token"])
  }

  @Test func `The digests of clients are read by the same rule`() throws {
    let client = "clients: [ { name: a, allow: [\"*\"], tokenSHA256: "
    #expect(try configuration(client + "\"\(Self.digest)\" } ]").clients.first?.tokenDigests.count == 1)
    let error = #expect(throws: ConfigurationError.self) { try configuration(client + "\"00\" } ]") }
    #expect(error?.place == "clients[0].tokenSHA256")
  }
}
