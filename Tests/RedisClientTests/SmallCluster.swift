import Foundation
import Logging

@testable import RedisClient

/// A Redis Cluster for one test, without replicas: processes on loopback, in its own directory.
final class SmallCluster: @unchecked Sendable {
  private let directory: URL
  private(set) var ports: [Int] = []
  private var processes: [Process] = []

  init(nodes: Int = 3) async throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("rcc-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    do {
      while ports.isEmpty {
        // The ports of the cluster bus are 10,000 higher and still below those that the system uses for outgoing connections.
        let first = Int.random(in: 1_200...2_200) * 10
        let candidates = (0..<nodes).map { first + $0 }
        for port in candidates { try start(port) }
        try await until("all answer, or one found its port taken") {
          try self.processes.contains { !$0.isRunning } || candidates.allSatisfy { try self.ask($0, ["PING"]) == "PONG" }
        }
        if processes.allSatisfy(\.isRunning) { ports = candidates } else { end() }
      }
      let addresses = ports.map { "127.0.0.1:\($0)" }
      _ = try run(["--cluster", "create"] + addresses + ["--cluster-replicas", "0", "--cluster-yes"])
      try await until("the cluster stands") {
        try self.ports.allSatisfy { try self.ask($0, ["CLUSTER", "INFO"]).contains("cluster_state:ok") }
      }
    } catch {
      remove()
      throw error
    }
  }

  private func start(_ port: Int) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "redis-server", "--port", "\(port)", "--bind", "127.0.0.1", "--dir", directory.path, "--save", "", "--appendonly", "no",
      "--cluster-enabled", "yes", "--cluster-config-file", "nodes-\(port)", "--cluster-node-timeout", "2000", "--logfile", "log-\(port)",
    ]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    processes.append(process)
  }

  private func end() {
    for process in processes {
      kill(process.processIdentifier, SIGKILL)
      process.waitUntilExit()
    }
    processes = []
  }

  func remove() {
    end()
    try? FileManager.default.removeItem(at: directory)
  }

  /// The output of redis-cli for a node's answer.
  func ask(_ port: Int, _ words: [String]) throws -> String { try run(["-p", "\(port)"] + words) }

  private func run(_ arguments: [String]) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["redis-cli"] + arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return text.trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private func until(_ what: String, _ condition: () throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(30)
    while try !condition() {
      guard ContinuousClock.now < end else { throw RedisError.unavailable("not in time: \(what)") }
      try await Task.sleep(for: .milliseconds(50))
    }
  }

  func client(_ configure: (inout RedisClient.Configuration) -> Void = { _ in }) throws -> RedisClient {
    var configuration = RedisClient.Configuration()
    configure(&configuration)
    return RedisClient(
      url: try RedisURL("redis-cluster://127.0.0.1:\(ports[0])"), configuration: configuration,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  // MARK: Moving a slot

  func slot(of key: String) -> Int { HashSlot(key: key.utf8).number }

  /// The port of the node that has a key's slot.
  func owner(of key: String) throws -> Int {
    for port in ports {
      let reply = try ask(port, ["EXISTS", key])
      if !reply.hasPrefix("MOVED") { return port }
    }
    throw RedisError.unavailable("nobody has it")
  }

  /// Begins to move a key's slot, without its keys.
  func beginMove(of key: String, from source: Int, to target: Int) throws {
    let slot = "\(slot(of: key))"
    _ = try ask(target, ["CLUSTER", "SETSLOT", slot, "IMPORTING", try ask(source, ["CLUSTER", "MYID"])])
    _ = try ask(source, ["CLUSTER", "SETSLOT", slot, "MIGRATING", try ask(target, ["CLUSTER", "MYID"])])
  }

  /// Moves all keys of the slot, and informs all nodes.
  func endMove(of key: String, from source: Int, to target: Int) throws {
    let slot = "\(slot(of: key))"
    let keys = try ask(source, ["CLUSTER", "GETKEYSINSLOT", slot, "1000"]).split(separator: "\n").map(String.init)
    for key in keys { _ = try ask(source, ["MIGRATE", "127.0.0.1", "\(target)", key, "0", "5000"]) }
    let id = try ask(target, ["CLUSTER", "MYID"])
    for port in [target, source] + ports { _ = try ask(port, ["CLUSTER", "SETSLOT", slot, "NODE", id]) }
  }
}

/// Runs the body with a fresh cluster.
func withCluster(_ body: (SmallCluster) async throws -> Void) async throws {
  let cluster = try await SmallCluster()
  defer { cluster.remove() }
  try await body(cluster)
}
