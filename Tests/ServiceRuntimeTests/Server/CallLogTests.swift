import AttributionProtocol
import Logging
import NIOHTTP1
import Synchronization
import Testing

@testable import ServiceRuntime

private final class Lines: Sendable {
  let all = Mutex<[(level: Logger.Level, fields: Logger.Metadata)]>([])
  var levels: [Logger.Level] { all.withLock { $0.map(\.level) } }
  func fields(_ index: Int) -> [String: String] { all.withLock { $0[index].fields.mapValues { "\($0)" } } }
}

private struct Recorder: LogHandler {
  let lines: Lines
  var logLevel: Logger.Level
  var metadata: Logger.Metadata = [:]

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) { lines.all.withLock { $0.append((event.level, event.metadata ?? [:])) } }
}

private struct FailingHandler: ImmediateRPCHandler {
  typealias Method = SignerService.ListSigningKeys
  let error: RPCError?

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    if let error { throw error }
    return Method.Response(keys: [])
  }
}

@Suite struct CallLogTests {
  private let lines = Lines()

  private func logger(_ level: Logger.Level) -> Logger {
    let lines = lines
    return Logger(label: "test") { _ in Recorder(lines: lines, logLevel: level) }
  }

  @Test func `A call that fails is logged with its request id and its trace`() async {
    let server = RPCTestServer(FailingHandler(error: .unavailable("not now")), logger: logger(.info))
    let trace = "0af7651916cd43dd8448eb211c80319c"
    _ = await server.call(["x-request-id": "abc", "traceparent": "00-\(trace)-b7ad6b7169203331-00"])
    #expect(lines.levels == [.warning])
    #expect(
      lines.fields(0) == [
        "requestId": "abc", "method": "attribution.signer.v1.SignerService/ListSigningKeys", "code": "unavailable", "traceId": trace,
      ])
  }

  @Test func `An error of the caller is logged too, and a call without an error only at level debug`() async {
    let refusing = RPCTestServer(FailingHandler(error: .invalidArgument(field: "a", "is bad")), logger: logger(.info))
    _ = await refusing.call()
    #expect(lines.levels == [.info])
    _ = await RPCTestServer(FailingHandler(error: nil), logger: logger(.info)).call()
    #expect(lines.levels == [.info])
    _ = await RPCTestServer(FailingHandler(error: nil), logger: logger(.debug)).call()
    #expect(lines.levels == [.info, .debug])
  }

  @Test func `The number of lines is limited`() {
    let log = CallLog(logger(.info))
    for _ in 0..<1000 { log.write(.info, "a call was answered") { [:] } }
    let written = lines.levels.count
    #expect(written >= 200 && written < 400)
  }
}
