import Foundation
import Logging
public import RedisClient

/// A Redis for one test, on a socket in its own folder.
public final class PrivateRedis {
  private let folder: URL
  private var process: Process?

  private var socket: String { folder.appendingPathComponent("s").path }

  fileprivate init() throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("up-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  /// Starts it, again after ``kill()``, and returns a client for it.
  public func start() async throws -> RedisClient {
    try? FileManager.default.removeItem(atPath: socket)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["redis-server", "--port", "0", "--unixsocket", socket, "--dir", folder.path, "--save", ""]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    let client = RedisClient(url: try RedisURL("unix://\(socket)"), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    for _ in 0..<1000 {
      if (try? await client.send(["PING"])) != nil { return client }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw RedisError.unavailable("the test's Redis does not answer")
  }

  public func kill() async {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    while process.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
    self.process = nil
  }

  fileprivate func remove() async {
    await kill()
    try? FileManager.default.removeItem(at: folder)
  }
}

/// Runs the body with a fresh Redis.
public func withRedis(_ body: (RedisClient, PrivateRedis) async throws -> Void) async throws {
  let redis = try PrivateRedis()
  do {
    let client = try await redis.start()
    try await body(client, redis)
    client.close()
  } catch {
    await redis.remove()
    throw error
  }
  await redis.remove()
}
