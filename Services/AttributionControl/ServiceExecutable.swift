import AttributionProtocol
import ServiceRuntime
import WireJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

#if canImport(Glibc)
  import Glibc
#endif

/// Runs a service's executable to check a configuration file.
enum ServiceExecutable {
  /// Searches the given folder or, if it is nil, this executable's folder and then the PATH. Returns nil if the executable is not found.
  static func find(_ service: ServiceName, in folder: String?) -> String? {
    var folders: [String] = []
    if let folder {
      folders = [folder]
    } else {
      if let path = ownPath { folders.append(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])) }
      folders += (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }
    return folders.map { "\($0)/\(service.rawValue)" }.first { access($0, X_OK) == 0 }
  }

  /// The path of this process' executable.
  private static var ownPath: String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
    return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
  }

  /// Runs `SERVICE check-configuration FILE --output json` and reads its output.
  static func problems(_ executable: String, _ file: String) throws(CommandFailure) -> [ConfigurationProblem] {
    let output = try run([executable, "check-configuration", file, "--output", "json"])
    guard let list = try? JSONValue(parsing: output).arrayValue else {
      throw CommandFailure(
        .internalError, "\(executable) cannot check configurations", advice: "Check that it is not older than attributionctl.")
    }
    return list.compactMap { ConfigurationProblem(json: $0) }
  }

  /// Runs a program and returns its standard output. Its exit code is ignored, because the output contains the result.
  private static func run(_ command: [String]) throws(CommandFailure) -> [UInt8] {
    var pipeEnds: [Int32] = [0, 0]
    guard pipe(&pipeEnds) == 0 else { throw CommandFailure(.internalError, "a pipe cannot be created") }
    // The child gets only a copy of the writing end, as its standard output: an end that it inherited could stay open after it has exited.
    for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    defer { close(pipeEnds[0]) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], STDOUT_FILENO)
    var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    let status = posix_spawn(&child, command[0], &actions, nil, &arguments, environ)
    close(pipeEnds[1])
    guard status == 0 else { throw CommandFailure(.internalError, "\(command[0]) cannot be run: \(String(cString: strerror(status)))") }
    var output: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      let count = read(pipeEnds[0], &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { break }
      output += chunk[..<count]
    }
    var exitStatus: Int32 = 0
    while waitpid(child, &exitStatus, 0) < 0, errno == EINTR {}
    return output
  }
}
