import Testing

@testable import ServiceRuntime

@Suite struct KeyCreationTests {
  private func configuration(_ yaml: String) throws -> DeploymentConfiguration {
    try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: "/etc/attribution")
  }

  private func network(_ created: String) throws -> DeploymentConfiguration {
    try configuration("adNetworks: [ { id: a.skadnetwork, keys: [ { id: \"1\", path: a.pem\(created) } ] } ]")
  }

  @Test(
    arguments: [
      ("", nil), (", created: 1970-01-02", 86_400_000), (", created: \"1970-01-02\"", 86_400_000),
      (", created: \"1970-01-01T00:00:01.5Z\"", 1500), (", created: \"1970-01-01T01:00:00+01:00\"", 0),
    ] as [(String, Int64?)])
  func `The creation of a key is a date or a time`(created: String, expected: Int64?) throws {
    let read = try network(created)
    #expect(read.adNetworks[0].keys[0].created == expected && read.unknownKeys.isEmpty)
  }

  @Test func `Keys of an app can have one too`() throws {
    let app = try configuration(
      """
      apps:
        - bundleId: com.example.app
          environments: [Sandbox]
          appStoreServer:
            { issuerId: team, keyId: A, privateKey: a.p8, created: 1970-01-02, otherKey: { keyId: B, privateKey: b.p8, created: 1970-01-03 } }
          offers: { keyId: C, privateKey: c.p8, created: 1970-01-04 }
      """)
    #expect(app.unknownKeys.isEmpty)
    let keys = [app.apps[0].appStoreServer, app.apps[0].otherAppStoreServer, app.apps[0].offers]
    #expect(keys.map { $0?.created } == [86_400_000, 172_800_000, 259_200_000])
  }

  @Test(arguments: ["yesterday", "2026-13-01", "2026", "2026-01-01T00:00:00", "[]"])
  func `Anything else is refused by its name`(created: String) {
    let error = #expect(throws: ConfigurationError.self) { try network(", created: \(created)") }
    #expect(error?.place == "adNetworks[0].keys[0].created")
  }
}
