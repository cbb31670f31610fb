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

  @Test(
    arguments: [
      ("noeviction", "yes", nil), ("allkeys-lru", "yes", "maxmemory-policy is allkeys-lru"), ("noeviction", "no", "appendonly is no"),
    ] as [(String, String, String?)])
  func `A Redis that forbids CONFIG is refused by what INFO shows`(policy: String, appendOnly: String, fault: String?) async throws {
    let redis = try RedisServer(["--maxmemory-policy", policy, "--rename-command", "CONFIG", "hidden"], appendOnly: appendOnly)
    let client = try await redis.client()
    let lines = Lines()
    var configuration = QueueConfiguration()
    var refusal: String?
    do {
      _ = try await RedisSafetyCheck.check(client, configuration, logger: Logger(label: "test") { _ in Record(lines) })
    } catch {
      refusal = "\(error)"
    }
    #expect((refusal == nil) == (fault == nil), "\(refusal ?? "-")")
    if let fault { #expect(refusal?.contains(fault) == true, "\(refusal ?? "-")") }
    // INFO does not show these two.
    for hidden in ["appendfsync", "no-appendfsync-on-rewrite"] {
      #expect(lines.warnings.contains { $0.contains("does not show its setting \(hidden);") })
    }
    let findings = await StoreDiagnosis(redis: client, durability: .disk) { DeliveryQueue.now }.findings()
    let failed = findings.filter { $0.check == "redis-settings" && $0.state == .failed }
    #expect(failed.isEmpty == (fault == nil), "\(failed)")
    configuration.development = true
    #expect(try await RedisSafetyCheck.check(client, configuration, logger: quietLogger) == nil)
    client.close()
  }
}
