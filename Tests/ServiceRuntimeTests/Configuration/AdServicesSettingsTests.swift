import Testing

@testable import ServiceRuntime

@Suite("AdServices settings") struct AdServicesSettingsTests {
  private func settings(_ yaml: String) throws -> AdServicesSettings {
    var unknown: [UnknownKey] = []
    let settings = try AdServicesSettings(try ConfigurationNode(yaml: "{ \(yaml) }", file: "file"), &unknown)
    #expect(unknown.isEmpty)
    return settings
  }

  private func place(_ yaml: String) -> String? {
    do { _ = try settings(yaml) } catch { return (error as? ConfigurationError)?.place }
    return nil
  }

  @Test("missing settings have their defaults")
  func defaults() throws {
    let settings = try settings("firstCallDelay: 5s")
    #expect(settings == AdServicesSettings())
    #expect(settings.firstCallDelay == .seconds(5) && settings.notFoundInterval == .seconds(5) && settings.notFoundRetries == 3)
    #expect(settings.slowLane == [.seconds(60), .seconds(300), .seconds(1800), .seconds(7200), .seconds(21_600)])
    #expect(!settings.slowLaneAfterNotFound && settings.slowLaneAfterFailure)
    #expect(settings.connectTimeout == .seconds(3) && settings.timeout == nil && settings.connections == 64)
    #expect(settings.breaker.window == .seconds(20) && settings.breaker.failureShare == 0.5)
    #expect(settings.resultLifetime == .seconds(48 * 3600))
  }

  @Test(
    "each setting accepts values exactly up to its limits",
    arguments: [
      ("firstCallDelay", ["0s", "60s"], ["61s"]), ("notFoundInterval", ["1s", "60s"], ["999ms", "61s"]),
      ("notFoundRetries", ["0", "10"], ["-1", "11"]), ("slowLane", ["[1s]", "[24h]"], ["[]", "[999ms]", "[25h]"]),
      ("connectTimeout", ["100ms", "30s"], ["99ms", "31s"]), ("timeout", ["2s", "60s"], ["1999ms", "61s"]),
      ("connections", ["1", "1024"], ["0", "1025"]), ("concurrency", ["1", "10000"], ["0", "10001"]),
      ("sharedConcurrency", ["1", "1000000"], ["0", "1000001"]), ("rate", ["0.01", "100000"], ["0.009", "100001"]),
      ("rateBurst", ["1", "1000000"], ["0", "1000001"]), ("resultLifetime", ["25h", "30d"], ["24h", "31d"]),
      ("longestRetryAfter", ["1s", "24h"], ["999ms", "25h"]),
      ("installLifetime", ["1d", "400d"], ["23h", "401d"]),
    ])
  func edges(key: String, good: [String], bad: [String]) {
    for value in good { #expect(place("\(key): \(value)") == nil, "\(key): \(value)") }
    for value in bad { #expect(place("\(key): \(value)")?.hasPrefix(key) == true, "\(key): \(value)") }
  }

  @Test(
    "each breaker setting accepts values exactly up to its limits",
    arguments: [
      ("window", ["1s", "10m"], ["999ms", "11m"]), ("leastCalls", ["1", "10000"], ["0", "10001"]),
      ("failureShare", ["0.01", "1"], ["0", "1.1"]), ("firstPause", ["100ms", "10m"], ["99ms", "11m"]),
      ("longestPause", ["100ms", "1h"], ["99ms", "61m"]), ("jitter", ["0", "1"], ["-0.1", "1.1"]),
      ("probes", ["1", "100"], ["0", "101"]),
    ])
  func breakerEdges(key: String, good: [String], bad: [String]) {
    for value in good { #expect(place("breaker: { \(key): \(value) }") == nil, "\(key): \(value)") }
    for value in bad { #expect(place("breaker: { \(key): \(value) }") == "breaker.\(key)", "\(key): \(value)") }
  }

  @Test("names are keyed by quoted 64-bit ids")
  func names() throws {
    let settings = try settings(#"names: { campaigns: { "9223372036854775807": Spring }, keywords: { "7": shoes } }"#)
    #expect(settings.names.campaigns == [.max: "Spring"])
    #expect(settings.names.keywords == [7: "shoes"])
    #expect(place(#"names: { ads: { "07": a } }"#) == "names.ads")
    #expect(place(#"names: { ads: { "9223372036854775808": a } }"#) == "names.ads")
    #expect(place(#"names: { ads: { "7": 8 } }"#) == "names.ads.7")
  }

  @Test("unknown keys are named")
  func unknown() throws {
    var unknown: [UnknownKey] = []
    _ = try AdServicesSettings(
      try ConfigurationNode(yaml: "{ delay: 1s, breaker: { pause: 1s }, names: { ad: {} } }", file: "file"), &unknown)
    #expect(unknown.map(\.path) == ["delay", "breaker.pause", "names.ad"])
  }
}
