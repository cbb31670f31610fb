import Testing

@testable import EventPush

@Suite("Settings and health of an endpoint")
struct EndpointSettingsTests {
  private func made() -> EndpointSettings {
    EndpointSettings(url: "https://a.example/", form: .structured, isOrdered: false, maxPerSecond: nil, maxConcurrent: nil, now: 100)
  }

  private func failing(since: Int64, _ settings: EndpointSettings) -> EndpointHealth {
    var health = EndpointHealth().counted(by: settings)
    (health.failingSince, health.retryAt, health.lastSuccess) = (since, 900, 50)
    return health
  }

  @Test("failures before the endpoint was enabled or moved do not count, even if they are stored late")
  func periods() {
    var settings = made()
    let health = EndpointHealth(json: failing(since: 200, settings).json)
    #expect(health.counted(by: settings) == health)
    let before = settings
    settings.enable(now: 300)
    #expect(settings.state == .enabled && settings.since == 100 && settings.countsFrom == 300 && !settings.hasSamePeriod(as: before))
    let counted = health.counted(by: settings)
    #expect(counted.failingSince == nil && counted.retryAt == nil && counted.lastSuccess == 50)
    let enabled = settings
    settings.move(to: settings.url, now: 400)
    #expect(settings == enabled)
    settings.move(to: "https://b.example/", now: 400)
    #expect(settings.countsFrom == 400 && settings.since == 100 && !settings.hasSamePeriod(as: enabled))
    #expect(EndpointSettings(json: settings.json) == settings)
  }

  @Test("data of older builds counts by its time")
  func older() throws {
    let first = made()
    let settings = try #require(EndpointSettings(json: first.json))
    #expect(settings == first && first.json["countsFrom"] == nil)
    let health = EndpointHealth(json: Array(#"{"failingSince":99,"retryAt":900}"#.utf8))
    #expect(health.counted(by: settings).failingSince == nil)
    #expect(EndpointHealth(json: Array(#"{"failingSince":100}"#.utf8)).counted(by: settings).failingSince == 100)
  }

  @Test("an endpoint that has ended is enabled with a new period")
  func enabling() {
    var settings = made()
    settings.end(.gone, reason: "it answered 410", now: 200)
    settings.enable(now: 300)
    #expect(settings.state == .enabled && settings.since == 300 && settings.countsFrom == 300 && settings.reason == nil)
  }
}
