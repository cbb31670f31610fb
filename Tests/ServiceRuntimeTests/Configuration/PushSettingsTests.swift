import Testing

@testable import ServiceRuntime

@Suite("Settings of pushing")
struct PushSettingsTests {
  private func read(_ yaml: String) throws -> DeploymentConfiguration {
    try DeploymentConfiguration(yaml: yaml, file: "test.yaml", folder: ".")
  }

  @Test("missing settings have the documented defaults")
  func defaults() throws {
    let settings = try read("push: {}").push
    #expect(settings == PushSettings())
    #expect(settings.timeout == .seconds(15) && settings.retryFor == .seconds(3 * 86_400) && !settings.allowsHTTP)
  }

  @Test("every key is read, and an unknown key is named")
  func keys() throws {
    let configuration = try read(
      """
      push:
        allowsHTTP: true
        allowedAddresses: [10.0.0.0/8, "fd00::/8"]
        timeout: 1s
        retryBase: 10ms
        retryCap: 1d
        retryFor: 14d
        pauseCap: 1h
        disableAfter: 100ms
        window: 1
        windowBytes: 1073741824
        threads: 64
        pusherTimeout: 2s
        endpoints: 0
        retryAfterCap: 0s
        other: 1
      """)
    let push = configuration.push
    #expect(push.allowsHTTP && push.allowedAddresses.map(\.description) == ["10.0.0.0/8", "fd00::/8"])
    #expect(push.timeout == .seconds(1) && push.retryBase == .milliseconds(10) && push.retryCap == .seconds(86_400))
    #expect(push.retryFor == .seconds(14 * 86_400) && push.pauseCap == .seconds(3600) && push.disableAfter == .milliseconds(100))
    #expect(
      push.window == 1 && push.windowBytes == 1 << 30 && push.pusherTimeout == .seconds(2) && push.endpoints == 0 && push.threads == 64)
    #expect(push.retryAfterCap == .zero)
    #expect(configuration.unknownKeys.contains { $0.path == "push.other" })
  }

  @Test(
    "a value outside its limits is an error that names it",
    arguments: [
      ("timeout", "99ms"), ("timeout", "61s"), ("retryBase", "9ms"), ("retryCap", "25h"), ("retryFor", "15d"), ("retryAfterCap", "15d"),
      ("pauseCap", "2h"),
      ("disableAfter", "99ms"), ("pusherTimeout", "1s"), ("window", "0"), ("windowBytes", "0"), ("threads", "0"), ("threads", "65"),
      ("endpoints", "100001"),
      ("allowedAddresses", "[10.0.0.1/8]"), ("allowedAddresses", "[example.com]"),
    ])
  func bounds(_ key: String, _ value: String) {
    #expect { try read("push: { \(key): \(value) }") } throws: { "\($0)".contains("push.\(key)") }
  }

  @Test("roles are separated by commas; the default is all roles")
  func roles() throws {
    #expect(try VerifierRole.roles(nil) == [.verify, .push])
    #expect(try VerifierRole.roles("push") == [.push])
    #expect(try VerifierRole.roles("verify, push") == [.verify, .push])
    #expect(throws: ConfigurationError.self) { try VerifierRole.roles("pull") }
  }
}
