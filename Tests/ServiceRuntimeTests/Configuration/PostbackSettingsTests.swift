import Testing

@testable import ServiceRuntime

@Suite("Settings of postbacks")
struct PostbackSettingsTests {
  private func names(_ yaml: String) throws -> [String] {
    try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: ".").postbacks.foreignMembers
  }

  @Test func `Without the setting events contain no foreign member`() throws {
    #expect(try names("{}") == [] && names("postbacks: {}") == [] && names("postbacks: { foreignMembers: [] }") == [])
  }

  @Test func `Names are 1 to 128 bytes, and 100 at the most`() throws {
    let longest = String(repeating: "n", count: 128)
    #expect(try names("postbacks: { foreignMembers: [ip, \(longest)] }") == ["ip", longest])
    #expect(try names("postbacks: { foreignMembers: ip }") == ["ip"])
    let most = (1...100).map { "n\($0)" }
    #expect(try names("postbacks: { foreignMembers: [\(most.joined(separator: ", "))] }") == most)
    func place(_ list: String) -> String? {
      #expect(throws: ConfigurationError.self) { try names("postbacks: { foreignMembers: \(list) }") }?.place
    }
    #expect(place("[ip, \(longest)n]") == "postbacks.foreignMembers[1]" && place("[\"\"]") == "postbacks.foreignMembers[0]")
    #expect(place("[\((most + ["more"]).joined(separator: ", "))]") == "postbacks.foreignMembers")
    #expect(place("[5]") == "postbacks.foreignMembers[0]" && place("{ ip: 1 }") == "postbacks.foreignMembers")
  }
}
