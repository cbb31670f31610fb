import Testing

@testable import ServiceRuntime

@Suite("Settings of gaps and migrations") struct GapSettingsTests {
  private func silence(_ yaml: String) throws -> SilenceSettings { try SilenceSettings(ConfigurationNode(yaml: yaml, file: "file")) }

  private func migrations(_ yaml: String) throws -> MigrationSettings {
    var unknown: [UnknownKey] = []
    let settings = try MigrationSettings(ConfigurationNode(yaml: yaml, file: "file"), &unknown)
    #expect(unknown.isEmpty)
    return settings
  }

  @Test("values are accepted exactly up to their limits")
  func edges() throws {
    #expect(try silence("{ strictCertificates: true }") == SilenceSettings())
    let edge = try silence("{ silence: 0s, silenceSweep: 100ms, silenceBatch: 10000 }")
    #expect(edge.after == .zero)
    #expect(edge.sweep == .milliseconds(100))
    #expect(edge.batch == 10_000)
    #expect(try migrations("{ kept: 1h, failures: 0 }").kept == .seconds(3600))
    #expect(try migrations("{ failures: 10000000 }").failures == 10_000_000)
    #expect(try migrations("{ unknownPatience: 0s }").unknownPatience == .zero)
    #expect(try migrations("{ unknownPatience: 1d }").unknownPatience == .seconds(86_400))
    #expect(try migrations("{ kept: 1h }").unknownPatience == .seconds(15 * 60))
  }

  @Test("by default, late notifications are waited for a quarter of an hour, and silence is a gap after a day")
  func defaults() throws {
    let configuration = try DeploymentConfiguration(yaml: "appStore: { strictCertificates: true }", file: "file", folder: ".")
    #expect(configuration.gapPatience == .seconds(15 * 60))
    #expect(configuration.silence.after == .seconds(24 * 3600))
  }

  @Test(
    "a value outside its limits is refused with its name",
    arguments: [("silenceSweep: 99ms", "silenceSweep"), ("silenceBatch: 0", "silenceBatch"), ("silenceBatch: 10001", "silenceBatch")])
  func beyond(_ entry: (yaml: String, place: String)) {
    #expect { try silence("{ \(entry.yaml) }") } throws: { ($0 as? ConfigurationError)?.place == entry.place }
  }

  @Test("the limit of ids of a receipt is 1 to 100000, by default 20000")
  func receiptIds() throws {
    func ids(_ yaml: String) throws -> Int {
      let configuration = try DeploymentConfiguration(yaml: "appStore: { \(yaml) }", file: "file", folder: ".")
      #expect(configuration.unknownKeys.isEmpty)
      return configuration.receiptTransactionIds
    }
    #expect(try ids("strictCertificates: true") == 20_000)
    #expect(try ids("receiptTransactionIds: 1") == 1)
    #expect(try ids("receiptTransactionIds: 100000") == 100_000)
    for count in [0, 100_001] {
      #expect { try ids("receiptTransactionIds: \(count)") } throws: {
        ($0 as? ConfigurationError)?.place == "appStore.receiptTransactionIds"
      }
    }
  }

  @Test(
    "a migration setting outside its limits is refused with its name",
    arguments: [
      ("kept: 3599s", "kept"), ("failures: -1", "failures"), ("failures: 10000001", "failures"),
      ("unknownPatience: -1s", "unknownPatience"),
      ("unknownPatience: 86401s", "unknownPatience"),
    ])
  func beyondMigrations(_ entry: (yaml: String, place: String)) {
    #expect { try migrations("{ \(entry.yaml) }") } throws: { ($0 as? ConfigurationError)?.place == entry.place }
  }
}
