import Logging
import Synchronization
import Testing

@testable import AttributionQueue

@Suite struct RedisSafetyCheckTests {
  private final class Lines: Sendable {
    let all = Mutex<[(level: Logger.Level, text: String)]>([])

    var warnings: [String] { all.withLock { $0.filter { $0.level >= .warning }.map(\.text) } }
  }

  private struct Record: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace
    var metadataProvider: Logger.MetadataProvider?

    init(_ lines: Lines) { self.lines = lines }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.all.withLock { $0.append((event.level, event.message.description)) } }
  }

  @Test(arguments: [("0", 1), ("64mb", 0)])
  func `A Redis without a memory limit is accepted with a warning`(memory: String, warnings: Int)
    async throws
  {
    let redis = try RedisServer(["--maxmemory", memory])
    let lines = Lines()
    _ = try await RedisSafetyCheck.check(
      try await redis.client(), QueueConfiguration(), logger: Logger(label: "test") { _ in Record(lines) })
    #expect(lines.warnings.count == warnings && lines.warnings.allSatisfy { $0.contains("no maxmemory") })
  }
}
