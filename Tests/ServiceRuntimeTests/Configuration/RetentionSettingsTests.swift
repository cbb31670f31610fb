import Testing

@testable import ServiceRuntime

@Suite struct RetentionSettingsTests {
  private func settings(_ yaml: String) throws -> RetentionSettings {
    let configuration = try DeploymentConfiguration(yaml: "retention: \(yaml)\nlimits: {}", file: "f.yaml", folder: "/etc")
    #expect(configuration.unknownKeys.isEmpty)
    return configuration.retention
  }

  @Test func `Missing settings have their defaults, and the total budget is within Apple's time limit`() throws {
    let usual = try settings("{}")
    #expect(usual == RetentionSettings())
    #expect(usual.budget == .milliseconds(300) && usual.unknownMessages == .refuse)
    let given = try settings("{ budget: 200ms, signerTimeout: 50ms, unknownMessages: trust, pendingEvents: 0, answersKept: 7d }")
    #expect(given.budget == .milliseconds(200) && given.signerTimeout == .milliseconds(50) && given.unknownMessages == .trust)
    #expect(given.pendingEvents == 0 && given.answersKept == .seconds(7 * 86_400))
  }

  @Test(arguments: [
    ("budget: 10ms", "retention.budget"), ("budget: 6s", "retention.budget"), ("historyTimeout: 0s", "retention.historyTimeout"),
    ("maximumAge: 2d", "retention.maximumAge"), ("answersKept: 500ms", "retention.answersKept"),
    ("unknownMessages: maybe", "retention.unknownMessages"), ("pendingEvents: -1", "retention.pendingEvents"),
  ])
  func `A value outside its limits is an error that names it`(yaml: String, place: String) {
    do {
      _ = try settings("{ \(yaml) }")
      Issue.record("\(yaml) was taken")
    } catch {
      #expect((error as? ConfigurationError)?.place == place)
    }
  }

  @Test func `An app whose number is unknown cannot be told from others, so it has no retention messages`() throws {
    let app = "apps:\n  - bundleId: a\n    environments: [Sandbox]\n    retention: { rules: [] }\n"
    do throws(ConfigurationError) {
      _ = try DeploymentConfiguration(yaml: app, file: "f.yaml", folder: "/etc")
      Issue.record("an app without appAppleId was accepted")
    } catch { #expect(error.place == "apps[0].appAppleId") }
    _ = try DeploymentConfiguration(yaml: app + "    appAppleId: 1\n", file: "f.yaml", folder: "/etc")
  }

  @Test func `An unknown key is reported with the nearest one`() throws {
    let unknown = try DeploymentConfiguration(yaml: "retention: { buget: 1s }", file: "f.yaml", folder: "/etc").unknownKeys
    #expect(unknown.map(\.description) == ["retention.buget (did you mean budget?)"])
  }
}
