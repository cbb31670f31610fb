#if canImport(Glibc)
  import Glibc
#endif

/// The metrics `process_*`, by the conventions of Prometheus' client libraries, and `attribution_build_info`.
enum ProcessMetrics {
  static func install(_ registry: MetricsRegistry) {
    registry.gauge("attribution_build_info", help: "Version and revision of this build.", labels: ["version", "revision"])
    registry.set("attribution_build_info", 1, [BuildInformation.version, BuildInformation.commit])
    registry.gauge("process_resident_memory_bytes", help: "Resident memory in bytes.")
    registry.gauge("process_virtual_memory_bytes", help: "Virtual memory in bytes.")
    registry.gauge("process_open_fds", help: "Open file descriptors.")
    registry.gauge("process_max_fds", help: "Maximum number of open file descriptors.")
    registry.counter("process_cpu_seconds_total", help: "Processor time used, in seconds.")
    registry.gauge("process_start_time_seconds", help: "Start time of the process, in seconds since 1970.")
    registry.set("process_start_time_seconds", Double(time(nil)))
    registry.collect {
      var usage = rusage()
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
      let seconds = { (time: timeval) in Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
      registry.set("process_cpu_seconds_total", seconds(usage.ru_utime) + seconds(usage.ru_stime))
      if let file = fopen("/proc/self/statm", "r") {
        var size = 0
        var resident = 0
        withUnsafeMutablePointer(to: &size) { size in
          withUnsafeMutablePointer(to: &resident) { resident in
            withVaList([size, resident]) { _ = vfscanf(file, "%ld %ld", $0) }
          }
        }
        fclose(file)
        registry.set("process_resident_memory_bytes", Double(resident * sysconf(Int32(_SC_PAGESIZE))))
        registry.set("process_virtual_memory_bytes", Double(size * sysconf(Int32(_SC_PAGESIZE))))
      }
      if let count = openDescriptors() { registry.set("process_open_fds", Double(count)) }
      var limit = rlimit()
      if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 { registry.set("process_max_fds", Double(limit.rlim_cur)) }
    }
  }

  /// The number of open file descriptors; nil if it cannot be read.
  private static func openDescriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var entries = 0
    while readdir(folder) != nil { entries += 1 }
    // The entries of the folder and its parent do not count, nor does the descriptor with which the folder is read.
    return max(0, entries - 3)
  }
}
