import Foundation
import Logging
import RedisClient

@testable import AttributionQueue

/// A Redis for one test, on a socket in its own folder.
final class PrivateRedis {
  let folder: URL
  private let settings: [String]
  private var process: Process?

  var socket: String { folder.appendingPathComponent("r.sock").path }

  init(_ settings: [String] = ["appendonly yes", "appendfsync always", "maxmemory-policy noeviction"]) throws {
    folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent("rq\(UInt32.random(in: 0 ... .max))")
    self.settings = settings
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try start()
  }

  deinit {
    kill()
    try? FileManager.default.removeItem(at: folder)
  }

  func start() throws {
    let lines = settings + ["port 0", "unixsocket \(socket)", "dir \(folder.path)", "save \"\"", "daemonize no"]
    let file = folder.appendingPathComponent("redis.conf")
    try lines.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
    try? FileManager.default.removeItem(atPath: socket)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["redis-server", file.path]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    for _ in 0..<500 where !FileManager.default.fileExists(atPath: socket) { usleep(10_000) }
  }

  /// Kills the process, so that it cannot write anything.
  func kill() {
    guard let process, process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Stops the process while the body runs. It executes the commands that were sent meanwhile afterwards, even if no caller waits any more.
  func rest(while body: () async throws -> Void) async rethrows {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGSTOP)
    defer { Foundation.kill(process.processIdentifier, SIGCONT) }
    try await body()
  }

  func client(_ configuration: RedisClient.Configuration = .init()) throws -> RedisClient {
    RedisClient(url: try RedisURL("unix://\(socket)"), configuration: configuration, logger: Logger(label: "test"))
  }

  func queue(client: RedisClient.Configuration = .init(), _ adjust: (inout QueueConfiguration) -> Void = { _ in }) async throws
    -> DeliveryQueue
  {
    var configuration = QueueConfiguration()
    adjust(&configuration)
    return try await DeliveryQueue.open(redis: try self.client(client), configuration: configuration, logger: Logger(label: "test"))
  }
}

extension AcceptRequest {
  /// A delivery with its own natural key and bytes.
  static func delivery(_ natural: String, bytes: String = "", order: String? = nil, notBefore: Int64? = nil) -> AcceptRequest {
    AcceptRequest(
      queue: .intake, idempotencyKey: natural + "#" + bytes, orderKey: order, naturalKey: natural,
      message: QueueMessage(
        kind: "test", body: Array((natural + bytes).utf8), attributes: ["natural": natural], receivedAt: DeliveryQueue.now, source: "public"
      ),
      notBefore: notBefore)
  }
}

extension Completion {
  static func verified(_ natural: String) -> Completion {
    Completion(
      state: .verified, naturalKey: natural,
      events: [
        EventRecord(
          id: natural, type: "attribution.skadnetwork.postback.verified.v1", json: Array(#"{"id":"\#(natural)"}"#.utf8))
      ])
  }
}

extension EventFeed {
  /// Pulls and acknowledges events until there are none, and returns their ids.
  func drain(_ name: String, wait: Duration = .milliseconds(300)) async throws -> [String] {
    var ids: [String] = []
    while true {
      let events = try await pull(name, limit: 100, wait: wait, lease: .seconds(30))
      if events.isEmpty { return ids }
      _ = try await acknowledge(name, ackIds: events.map(\.ackId))
      ids += events.map {
        String(decoding: $0.json, as: UTF8.self).replacingOccurrences(of: "{\"id\":\"", with: "").replacingOccurrences(of: "\"}", with: "")
      }
    }
  }
}
