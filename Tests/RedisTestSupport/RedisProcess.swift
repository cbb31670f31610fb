import Foundation

/// A redis-server for one test, on a Unix socket in its own folder. The test calls one method at a time.
public final class RedisProcess: @unchecked Sendable {
  public let folder: URL
  private let arguments: [String]
  private var process: Process?

  public var socket: String { folder.appendingPathComponent("s").path }

  /// - Parameter settings: arguments of redis-server, such as `--appendonly`, `yes`. Without them nothing is written to the disk.
  public init(_ settings: [String] = []) throws {
    folder = FileManager.default.temporaryDirectory.appendingPathComponent("redis-\(UUID().uuidString.prefix(13))")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    arguments =
      [
        "redis-server", "--port", "0", "--unixsocket", folder.appendingPathComponent("s").path, "--dir", folder.path, "--save", "",
        "--logfile", "log",
      ] + settings
    try start()
  }

  /// The end of the process is not awaited, because that would block one of the few threads that tests share.
  deinit {
    if let process, process.isRunning { Foundation.kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(at: folder)
  }

  /// Starts it again after ``kill()``.
  public func start() throws {
    try? FileManager.default.removeItem(atPath: socket)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
  }

  /// Kills the process, as a crash does.
  public func kill() async {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    while process.isRunning { try? await Task.sleep(for: .milliseconds(5)) }
    self.process = nil
  }

  /// Stops the process while the body runs. Afterwards it executes the commands that were sent meanwhile, even if no caller waits any more.
  public func suspend(while body: () async throws -> Void) async rethrows {
    guard let process else { return }
    Foundation.kill(process.processIdentifier, SIGSTOP)
    defer { Foundation.kill(process.processIdentifier, SIGCONT) }
    try await body()
  }

  /// Kills the process and removes its files.
  public func remove() async {
    await kill()
    try? FileManager.default.removeItem(at: folder)
  }
}
