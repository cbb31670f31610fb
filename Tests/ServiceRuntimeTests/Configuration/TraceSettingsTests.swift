import Testing

@testable import ServiceRuntime

@Suite struct TraceSettingsTests {
  private func settings(_ yaml: String = "{}", _ variables: [String: String] = [:]) throws -> TraceSettings {
    var configuration = try DeploymentConfiguration(yaml: "traces: \(yaml)", file: "f.yaml", folder: "/etc")
    #expect(configuration.unknownKeys == [])
    try configuration.traces.apply { variables[$0] }
    return configuration.traces
  }

  @Test func `Nothing is recorded without a collector`() throws {
    #expect(try settings().url == nil)
    #expect(try settings("{ endpoint: 'http://c:4318' }").url == "http://c:4318/v1/traces")
    #expect(try settings("{ endpoint: 'http://c:4318/base/' }").url == "http://c:4318/base/v1/traces")
  }

  @Test func `OpenTelemetry's variables take precedence`() throws {
    let yaml = "{ endpoint: 'http://c:4318', sampling: 0.5, queue: 9, timeout: 3s }"
    let settings = try settings(
      yaml,
      [
        "OTEL_EXPORTER_OTLP_ENDPOINT": "https://other", "OTEL_TRACES_SAMPLER_ARG": "0.25", "OTEL_BSP_MAX_QUEUE_SIZE": "7",
        "OTEL_BSP_SCHEDULE_DELAY": "100", "OTEL_EXPORTER_OTLP_TIMEOUT": "2000", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%2Cc, d = e=f",
        "OTEL_SERVICE_NAME": "s",
      ])
    #expect(settings.url == "https://other/v1/traces" && settings.sampling == 0.25 && settings.queue == 7)
    #expect(settings.interval == .milliseconds(100) && settings.timeout == .seconds(2) && settings.serviceName == "s")
    #expect(settings.headers.map { "\($0.name): \($0.value)" } == ["a: b,c", "d: e=f"])
    #expect(try self.settings(yaml, ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/exactly"]).url == "http://c/exactly")
    #expect(try self.settings(yaml, ["OTEL_SDK_DISABLED": "true"]).url == nil)
    #expect(try self.settings(yaml, ["OTEL_TRACES_EXPORTER": "none"]).url == nil)
    #expect(try self.settings(yaml, ["OTEL_EXPORTER_OTLP_ENDPOINT": ""]).url == "http://c:4318/v1/traces")
  }

  @Test(
    arguments: [
      ("always_on", false, 1), ("always_off", false, 0), ("parentbased_always_on", true, 1), ("parentbased_always_off", true, 0),
      ("traceidratio", false, 0.5), ("parentbased_traceidratio", true, 0.5),
    ] as [(String, Bool, Double)])
  func `Samplers have the names of OpenTelemetry`(_ name: String, _ followsCallers: Bool, _ sampling: Double) throws {
    let settings = try settings("{ sampling: 0.1 }", ["OTEL_TRACES_SAMPLER": name, "OTEL_TRACES_SAMPLER_ARG": "0.5"])
    #expect(settings.followsCallers == followsCallers && settings.sampling == sampling)
  }

  @Test(arguments: [
    ["OTEL_EXPORTER_OTLP_HEADERS": "secret"], ["OTEL_EXPORTER_OTLP_HEADERS": "a=%0A"], ["OTEL_TRACES_SAMPLER": "sometimes"],
    ["OTEL_TRACES_SAMPLER_ARG": "2"], ["OTEL_BSP_SCHEDULE_DELAY": "1"], ["OTEL_EXPORTER_OTLP_ENDPOINT": "grpc://c"],
  ])
  func `An invalid variable is named without its value`(_ variables: [String: String]) throws {
    let name = try #require(variables.keys.first)
    #expect { try settings("{}", variables) } throws: { error in
      guard let error = error as? ConfigurationError else { return false }
      return error.place == name && !"\(error)".contains("secret")
    }
  }

  @Test func `The number of traces for unknown callers is limited per second`() {
    let rate = ParentRate(perSecond: 2)
    #expect([999, 999, 999, 1000, 1000, 1999, 1999].map { rate.take(now: $0) } == [true, true, false, true, true, false, false])
  }
}
