import Foundation
import Logging
import RedisClient

/// A Redis for one test, on a Unix socket in its own directory.
final class SmallRedis: @unchecked Sendable {
  private let directory: URL
  private let settings: [String]
  private var process: Process?

  init(_ settings: [String] = []) throws {
    directory = FileManager.default.temporaryDirectory.appendingPathComponent("rc-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    self.settings =
      [
        "--port", "0", "--unixsocket", directory.appendingPathComponent("s").path, "--dir", directory.path,
        "--save", "", "--appendonly", "no", "--logfile", "log",
      ] + settings
    try start()
  }

  func start() throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["redis-server"] + settings
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
  }

  /// Kills the process, as a crash does.
  func kill() async {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    while process.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
    self.process = nil
  }

  func remove() async {
    await kill()
    try? FileManager.default.removeItem(at: directory)
  }

  /// Returns a client. `credentials` are placed before an @.
  func client(
    credentials: String = "", query: String = "", _ configure: (inout RedisClient.Configuration) -> Void = { _ in }
  ) throws -> RedisClient {
    var configuration = RedisClient.Configuration()
    configure(&configuration)
    return RedisClient(
      url: try RedisURL("unix://\(credentials)\(directory.appendingPathComponent("s").path)\(query)"), configuration: configuration,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }
}

/// Runs the body with a fresh Redis.
func withRedis(_ settings: [String] = [], _ body: (SmallRedis) async throws -> Void) async throws {
  let server = try SmallRedis(settings)
  do { try await body(server) } catch {
    await server.remove()
    throw error
  }
  await server.remove()
}

/// Waits until Redis answers, for at most 20 s.
func untilReady(_ client: RedisClient) async throws {
  let until = ContinuousClock.now + .seconds(20)
  while true {
    do {
      _ = try await client.sendAllowingErrors(["PING"])
      return
    } catch {
      guard ContinuousClock.now < until else { throw error }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
