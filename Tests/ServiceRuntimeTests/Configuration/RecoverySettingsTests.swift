import Testing

@testable import ServiceRuntime

@Suite("The settings of recovery")
struct RecoverySettingsTests {
  private func read(_ yaml: String) throws -> DeploymentConfiguration {
    try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: "/etc")
  }

  @Test("missing settings have the documented defaults")
  func defaults() throws {
    let settings = try read("apps: []").recovery
    #expect(settings == RecoverySettings())
    #expect(settings.parallelPages == 16 && settings.lease == .seconds(15) && settings.outageAfter == .seconds(60))
  }

  @Test("every setting is read, and unknown keys are named")
  func all() throws {
    let configuration = try read(
      """
      recovery:
        parallelPages: 256
        lease: 1s
        holdBack: 0s
        heartbeat: 100ms
        outageAfter: 300ms
        retryPatience: 1s
        retryMargin: 0s
        silenceAfter: 1s
        silenceExpected: 1
        heldBacklog: 1
        mostRunning: 10000
        rates: { getNotificationHistory: 0.001, getTransactionInfo: 1000 }
        colour: blue
      """)
    let settings = configuration.recovery
    #expect(settings.parallelPages == 256 && settings.holdBack == .zero && settings.heartbeat == .milliseconds(100))
    #expect(settings.heldBacklog == 1 && settings.maxRunning == 10_000)
    #expect(settings.rates == ["getNotificationHistory": 0.001, "getTransactionInfo": 1000])
    #expect(configuration.unknownKeys.count == 1 && configuration.unknownKeys[0].path.contains("colour"))
  }

  @Test(
    "a value outside its limits is refused with its name",
    arguments: [
      ("parallelPages", "0"), ("parallelPages", "257"), ("intakeBacklog", "0"), ("heldBacklog", "0"), ("heldBacklog", "100000001"),
      ("mostRunning", "0"), ("mostRunning", "10001"), ("lease", "999ms"), ("heartbeat", "99ms"),
      ("outageAfter", "14s"),
      ("retryPatience", "999ms"), ("silenceAfter", "999ms"), ("silenceExpected", "0"), ("silenceExpected", "1000001"),
    ])
  func edges(key: String, value: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try read("recovery: { \(key): \(value) }") }
    #expect("\(try #require(error))".contains("recovery.\(key)"))
  }

  @Test("a rate outside its limits is refused with the name of its endpoint", arguments: ["0.0009", "1000.1"])
  func rates(value: String) throws {
    let error = #expect(throws: ConfigurationError.self) { try read("recovery: { rates: { getTransactionInfo: \(value) } }") }
    #expect("\(try #require(error))".contains("recovery.rates.getTransactionInfo"))
  }
}
