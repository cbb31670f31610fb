import Foundation
import Logging
import Testing

@testable import RedisClient

/// A client and the primary that real Sentinels name.
@Suite struct RedisSentinelTests {
  /// A primary, a replica and a Sentinel, as processes on loopback.
  private final class Watched: @unchecked Sendable {
    private let directory: URL
    private(set) var primary = 0
    private(set) var replica = 0
    private(set) var sentinel = 0
    private var processes: [Int: Process] = [:]

    init() async throws {
      directory = FileManager.default.temporaryDirectory.appendingPathComponent("rcs-\(UUID().uuidString.prefix(13))")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      repeat {
        end()
        primary = Int.random(in: 1_200...2_200) * 10 + 7
        (replica, sentinel) = (primary + 1, primary + 2)
        let file = directory.appendingPathComponent("sentinel-\(sentinel)")
        try """
        port \(sentinel)
        bind 127.0.0.1
        sentinel monitor main 127.0.0.1 \(primary) 1
        sentinel down-after-milliseconds main 500
        sentinel failover-timeout main 2000
        """.write(to: file, atomically: true, encoding: .utf8)
        try start(primary, ["--port", "\(primary)"])
        try start(replica, ["--port", "\(replica)", "--replicaof", "127.0.0.1 \(primary)"])
        try start(sentinel, [file.path, "--sentinel"], isConfigured: true)
        try await Task.sleep(for: .milliseconds(300))
      } while processes.values.contains { !$0.isRunning }
    }

    private func start(_ port: Int, _ words: [String], isConfigured: Bool = false) throws {
      let common = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["redis-server"] + words + (isConfigured ? [] : common) + ["--dir", directory.path, "--logfile", "log-\(port)"]
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      try process.run()
      processes[port] = process
    }

    /// Kills a process, as a crash does.
    func end(_ port: Int) {
      guard let process = processes.removeValue(forKey: port) else { return }
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }

    private func end() { for port in Array(processes.keys) { end(port) } }

    func remove() {
      end()
      try? FileManager.default.removeItem(at: directory)
    }

    func client(_ name: String = "main") throws -> RedisClient {
      RedisClient(
        url: try RedisURL("redis-sentinel://127.0.0.1:\(sentinel)/\(name)"),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }
  }

  private func eventually(_ condition: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(40)
    while ContinuousClock.now < end {
      if try await condition() { return true }
      try await Task.sleep(for: .milliseconds(50))
    }
    return false
  }

  @Test func `The primary is found by its name, and after its death its successor`() async throws {
    let watched = try await Watched()
    defer { watched.remove() }
    let client = try watched.client()
    defer { client.close() }
    #expect(try await eventually { (try? await client.send(["SET", "a", "1"])) != nil })
    #expect(try await client.sendToEachPrimary(["ROLE"]).map(\.node) == [NodeAddress(host: "127.0.0.1", port: watched.primary)])
    // The Sentinel learns of the replica from the primary, and only promotes it after it has seen its link.
    #expect(
      try await eventually {
        let reply = try? await client.replicated(RedisReplication(replicas: 1, depth: .received, timeout: .seconds(1))).send([
          "SET", "a", "2",
        ])
        return reply != nil
      })
    let sentinel = RedisClient(
      url: try RedisURL("redis://127.0.0.1:\(watched.sentinel)"), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    defer { sentinel.close() }
    #expect(try await eventually { try await sentinel.send(["SENTINEL", "REPLICAS", "main"]).array?.count == 1 })
    watched.end(watched.primary)
    #expect(try await eventually { (try? await client.send(["SET", "b", "3"])) != nil })
    #expect(try await client.send(["GET", "a"]).string == "2")
    #expect(try await client.sendToEachPrimary(["ROLE"]).map(\.node) == [NodeAddress(host: "127.0.0.1", port: watched.replica)])
  }

  @Test func `An unknown primary name is reported`() async throws {
    let watched = try await Watched()
    defer { watched.remove() }
    let client = try watched.client("other")
    defer { client.close() }
    #expect(
      try await eventually {
        do {
          try await client.send(["PING"])
          return false
        } catch { return error as? RedisError == .unavailable("SENTINEL knows no primary") }
      })
  }
}
