import Foundation

/// How many cores this process may run on.
public enum AvailableCores {
  /// Of a container bound to some of the machine's cores, those: a thread more than cores only takes turns.
  public static let count: Int = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return count(status: status) ?? max(1, ProcessInfo.processInfo.activeProcessorCount)
  }()

  /// From the kernel's mask of allowed cores (`Cpus_allowed:`, hexadecimal in groups); nil where there is none.
  static func count(status: String) -> Int? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return nil }
    let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
    let cores = digits.reduce(0) { $0 + $1.nonzeroBitCount }
    return cores > 0 ? cores : nil
  }
}
