import Cryptography
import Testing

@testable import ServiceRuntime

@Suite struct MetricsAccessTests {
  private func settings(_ tokens: String...) -> MetricsSettings {
    var settings = MetricsSettings()
    settings.tokenDigests = tokens.map { SHA256Digest.hash($0) }
    return settings
  }

  @Test func `Without a configured token everyone may read the metrics`() {
    let access = MetricsAccess(MetricsSettings())
    #expect(access.admits(authorization: nil) && access.admits(authorization: "Bearer anything"))
  }

  @Test func `Each configured token is accepted, whatever the case of the scheme`() {
    let access = MetricsAccess(settings("first", "second"))
    for header in ["Bearer first", "bearer second", "BEARER  first"] { #expect(access.admits(authorization: header)) }
  }

  @Test(arguments: [nil, "", "Bearer ", "Bearer third", "Bearer firs", "Bearer first ", "Basic first", "first"])
  func `Everything else is refused`(header: String?) {
    #expect(!MetricsAccess(settings("first", "second")).admits(authorization: header))
  }

  @Test func `A reload replaces all tokens`() {
    let access = MetricsAccess(settings("first"))
    access.replace(by: settings("second"))
    #expect(!access.admits(authorization: "Bearer first") && access.admits(authorization: "Bearer second"))
    access.replace(by: MetricsSettings())
    #expect(access.admits(authorization: nil))
  }
}
