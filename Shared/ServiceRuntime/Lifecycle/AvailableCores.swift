import NIOCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How many cores this process may use.
public enum AvailableCores {
  /// Of a container bound to some of the machine's cores, those, and of one with a share of their time (cgroup's `cpu.max`), that
  /// share, rounded up: a thread more than that only takes turns, or is stopped when the share is used up.
  public static let count: Int = {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    return count(status: status, share: System.coreCount)
  }()

  /// `share`: what the container may use of the machine, the machine where it may use all of it.
  static func count(status: String, share: Int) -> Int { max(1, min(share, allowed(status: status) ?? share)) }

  /// From the kernel's mask of allowed cores (`Cpus_allowed:`, hexadecimal in groups); nil where there is none.
  static func allowed(status: String) -> Int? {
    guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("Cpus_allowed:") }) else { return nil }
    let digits = line.dropFirst("Cpus_allowed:".count).compactMap(\.hexDigitValue)
    let cores = digits.reduce(0) { $0 + $1.nonzeroBitCount }
    return cores > 0 ? cores : nil
  }
}
