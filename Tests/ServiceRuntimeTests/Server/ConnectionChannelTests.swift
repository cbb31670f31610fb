import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import ServiceRuntime

private struct Refusing: HTTPResponder {
  func begin(_ request: IncomingRequest) -> RequestAdmission { .response(HTTPResponse(status: 404)) }
}

@Suite struct ConnectionChannelTests {
  @Test func `A cancelled listener closes its connections`() async throws {
    let registry = MetricsRegistry()
    registry.gauge("attribution_http_connections", help: "", labels: ["protocol"])
    let setup = ConnectionChannel(
      responder: Refusing(), limits: Limits(), registry: registry, connectionLimit: ConnectionLimit(maxConnections: 10), tls: nil,
      proxies: [],
      peers: .none, isDraining: { true })
    let channel = NIOAsyncTestingChannel()
    try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
    let value = ConnectionChannel.Value(channel: channel, version: channel.eventLoop.makeSucceededFuture(.http1))
    let handling = Task { await setup.handle(value: value, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) }
    try await Task.sleep(for: .milliseconds(50))
    #expect(channel.isActive)
    handling.cancel()
    await handling.value
    #expect(!channel.isActive)
    #expect(await registry.text().contains(#"attribution_http_connections{protocol="h1"} 0"#))
  }
}
