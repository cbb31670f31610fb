import NIOCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The number of cores that this process may use.
public enum AvailableCores {
  /// In a container, the number of cores it is pinned to, or its CPU quota (cgroup's `cpu.max`) rounded up, whichever is less. More threads
  /// than that would only be throttled.
  public static let count: Int = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return count(status: status, share: System.coreCount)
  }()

  /// `share`: the container's CPU quota, or all cores of the machine.
  static func count(status: String, share: Int) -> Int { max(1, min(share, allowed(status: status) ?? share)) }

  /// Counts the bits of the kernel's mask of allowed cores (`Cpus_allowed:`, hexadecimal in groups); nil if it is missing.
  static func allowed(status: String) -> Int? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return nil }
    let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
    let cores = digits.reduce(0) { $0 + $1.nonzeroBitCount }
    return cores > 0 ? cores : nil
  }
}
