import Testing

@testable import ServiceRuntime

@Suite struct BuildInformationTests {
  @Test func `A version is semantic and a commit is a hash`() throws {
    #expect(BuildInformation.version.wholeMatch(of: #/\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?/#) != nil)
    #expect(BuildInformation.commit == "unknown" || BuildInformation.commit.wholeMatch(of: #/[0-9a-f]{7,40}(_modified)?/#) != nil)
    #expect(
      BuildInformation.text(.notificationRecovery)
        == "notification-recovery \(BuildInformation.version) (commit \(BuildInformation.commit), \(BuildInformation.build) build)")
  }
}
