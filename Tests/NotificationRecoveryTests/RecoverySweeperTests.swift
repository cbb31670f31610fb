import AppStore
import Logging
import RedisTestSupport
import Testing

@testable import ServiceRuntime
@testable import notification_recovery

@Suite("Recoveries by schedule")
struct RecoverySweeperTests {
  private static let day: Int64 = 86_400_000

  /// The windows of the recoveries of failures that begin at these times, milliseconds since 1970.
  ///
  /// - Parameter recovery: the section of the app; nil for none.
  private func windows(_ recovery: String?, at times: [Int64]) async throws -> [TimeWindow] {
    let yaml = """
      apps:
        - bundleId: a
          appAppleId: 1
          environments: [Production]
          appStoreServer: { issuerId: team, keyId: A, privateKey: a.p8 }
      \(recovery.map { "    recovery: { \($0) }" } ?? "")
      """
    let app = try #require(try DeploymentConfiguration(yaml: yaml, file: "f.yaml", folder: ".").app("a"))
    var windows: [TimeWindow] = []
    try await withRedis { redis, _ in
      let store = RecoveryStore(redis: redis)
      let sweeper = RecoverySweeper(store: store, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      for now in times { await sweeper.sweep(app, now: now) }
      let jobs = try await store.jobs(try await store.runningIDs("a"), of: "a")
      windows = jobs.values.map(\.job).filter(\.onlyFailures).map(\.window).sorted { $0.start < $1.start }
    }
    return windows
  }

  @Test("a lookback shorter than the schedule counts as the schedule's time, so that no failure is between two windows")
  func gaps() async throws {
    let times = (0..<6).map { 20_001 * Self.day + $0 * 3 * Self.day }
    let windows = try await windows("schedule: 3d, lookback: 1h", at: times)
    #expect(windows.count == times.count)
    for (window, next) in zip(windows, windows.dropFirst()) { #expect(next.start == window.end) }
  }

  @Test("an app with a key and no settings is recovered every hour, unless that is switched off")
  func withoutSettings() async throws {
    let times = (0..<3).map { 20_001 * Self.day + $0 * 3_600_000 }
    for settings in [nil, "", "outages: false"] as [String?] {
      let windows = try await windows(settings, at: times)
      #expect(windows.map(\.end) == times && windows.allSatisfy { $0.end - $0.start == Self.day })
    }
    #expect(try await windows("schedule: never", at: times).isEmpty)
  }

  @Test("a longer lookback is used as it is")
  func longer() async throws {
    let windows = try await windows("schedule: 1h, lookback: 24h", at: [20_001 * Self.day])
    #expect(windows.map { $0.end - $0.start } == [Self.day])
  }
}
