import Testing

@testable import ServiceRuntime

@Suite struct HealthProbeTests {
  @Test(arguments: [
    ("0.0.0.0", "127.0.0.1"), ("", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]"), ("127.0.0.5", "127.0.0.5"),
    ("host.example", "host.example"),
  ])
  func `The health probe uses a local address of the listener`(_ listening: String, _ asked: String) {
    #expect(HealthProbe.host(listening) == asked)
  }
}
