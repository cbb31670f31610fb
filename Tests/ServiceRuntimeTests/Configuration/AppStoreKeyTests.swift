import Testing

@testable import ServiceRuntime

@Suite struct AppStoreKeyTests {
  private func configuration(_ otherKey: String) throws -> DeploymentConfiguration {
    try DeploymentConfiguration(
      yaml: """
        apps:
          - bundleId: com.example.app
            environments: [Sandbox]
            appStoreServer: { issuerId: team, keyId: A, privateKey: a.p8\(otherKey) }
        """, file: "f.yaml", folder: "/etc/attribution")
  }

  @Test func `The other key has the issuer of the first one`() throws {
    #expect(try configuration("").apps[0].otherAppStoreServer == nil)
    let app = try configuration(", otherKey: { keyId: B, privateKey: b.p8 }").apps[0]
    let other = try #require(app.otherAppStoreServer)
    #expect(other.keyId == "B" && other.issuerId == "team" && other.place.contains("apps[0].appStoreServer.otherKey"))
    #expect(app.appStoreServer?.keyId == "A")
  }

  @Test(arguments: [
    (", otherKey: { keyId: A, privateKey: b.p8 }", "apps[0].appStoreServer.otherKey.keyId"),
    (", otherKey: { privateKey: b.p8 }", "apps[0].appStoreServer.otherKey.keyId"),
    (", otherKey: { keyId: B }", "apps[0].appStoreServer.otherKey.privateKey"),
    (", otherKey: B", "apps[0].appStoreServer.otherKey"),
  ])
  func `A wrong other key is refused by its name`(otherKey: String, path: String) {
    let error = #expect(throws: ConfigurationError.self) { try configuration(otherKey) }
    #expect(error?.place.contains(path) == true)
  }

  @Test(arguments: ["Xcode", "LocalTesting", "Xcode, LocalTesting", ""])
  func `An app with a key has an environment with a server of Apple's`(environments: String) throws {
    func app(_ key: String, _ environments: String) throws -> DeploymentConfiguration.App {
      try DeploymentConfiguration(
        yaml: "apps: [ { bundleId: com.example.app, environments: [\(environments)]\(key) } ]", file: "f.yaml", folder: "/"
      ).apps[0]
    }
    let key = ", appStoreServer: { issuerId: team, keyId: A, privateKey: a.p8 }"
    let error = #expect(throws: ConfigurationError.self) { try app(key, environments) }
    #expect(error?.place.contains("apps[0].environments") == true)
    // Without a key, nothing is sent to Apple.
    #expect(try app("", environments).appStoreServer == nil)
    #expect(try app(key, environments.isEmpty ? "Sandbox" : environments + ", Sandbox").appStoreServer?.keyId == "A")
  }

  @Test func `A misspelt setting of the other key is reported`() throws {
    let unknown = try configuration(", otherKey: { keyId: B, privateKey: b.p8, issuer: x }").unknownKeys
    #expect(unknown.count == 1 && unknown.first?.path.contains("apps[0].appStoreServer.otherKey.issuer") == true)
  }
}
