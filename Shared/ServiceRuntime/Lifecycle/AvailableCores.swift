import NIOCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The number of cores that this process may use.
public enum AvailableCores {
  /// In a container: the number of cores to which it is pinned, or its CPU quota (cgroup's `cpu.max`) rounded up, whichever is less. More
  /// threads than that would only be throttled.
  public static let count: Int = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return count(status: status, quota: System.coreCount)
  }()

  /// - Parameters:
  ///   - status: the content of `/proc/self/status`.
  ///   - quota: the container's CPU quota, or without a quota the number of all cores of the machine.
  static func count(status: String, quota: Int) -> Int { max(1, min(quota, allowed(status: status) ?? quota)) }

  /// Counts the bits of the kernel's mask of allowed cores (`Cpus_allowed:`, hexadecimal in groups); nil if it is missing.
  static func allowed(status: String) -> Int? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return nil }
    let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
    let cores = digits.reduce(0) { $0 + $1.nonzeroBitCount }
    return cores > 0 ? cores : nil
  }
}
