import AppStore
import Testing

@testable import ServiceRuntime
@testable import notification_recovery

@Suite("An app that exists on only one of Apple's servers")
struct OnlyServerTests {
  private func only(_ environments: String) throws -> AppStoreServer? {
    let yaml = "apps: [ { bundleId: com.example.app, appAppleId: 1, environments: [\(environments)] } ]"
    return try DeploymentConfiguration(yaml: yaml, file: "file", folder: ".").apps[0].onlyServer
  }

  @Test("environments without a server do not count")
  func counted() throws {
    #expect(try only("Production") == .production && only("Production, Xcode, LocalTesting") == .production)
    #expect(try only("Xcode, Sandbox") == .sandbox)
    #expect(try only("Production, Sandbox") == nil && only("Xcode") == nil)
  }
}
