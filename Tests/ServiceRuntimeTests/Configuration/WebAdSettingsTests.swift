import Testing

@testable import ServiceRuntime

@Suite("Settings of web ads")
struct WebAdSettingsTests {
  private func settings(_ yaml: String) throws -> WebAdSettings {
    try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: "/etc/attribution").webAds
  }

  @Test("by default libpsl's list is used for sites, and postbacks have its result")
  func usual() throws {
    let usual = try settings("{}")
    #expect(usual == WebAdSettings())
    #expect((usual.signing, usual.postbacks) == (.registrable, .mark))
    #expect(try usual.suffixes().isRegistrable("example.co.uk"))
  }

  @Test("a list's path is relative to the file, and an invalid value is refused with its key")
  func list() throws {
    #expect(try settings("webAds: { publicSuffixList: list.dat }").publicSuffixList == "/etc/attribution/list.dat")
    #expect(try settings("webAds: { signing: form, postbacks: ignore }") != WebAdSettings())
    let missing = try settings("webAds: { publicSuffixList: /nowhere/list.dat }")
    let error = #expect(throws: ConfigurationError.self) { try missing.suffixes() }
    #expect(error.map { "\($0)".contains("webAds.publicSuffixList") } == true)
  }

  @Test(
    "other values are refused, and unknown keys are reported",
    arguments: ["webAds: { signing: strict }", "webAds: { postbacks: reject }", "webAds: 5", "webAds: { publicSuffixList: [] }"])
  func refused(yaml: String) {
    #expect(throws: ConfigurationError.self) { try settings(yaml) }
  }

  @Test("an unknown key is reported")
  func unknown() throws {
    let configuration = try DeploymentConfiguration(yaml: "webAds: { signed: form }", file: "f.yaml", folder: ".")
    #expect(configuration.unknownKeys.map { "\($0)" }.contains { $0.contains("signed") })
  }
}
