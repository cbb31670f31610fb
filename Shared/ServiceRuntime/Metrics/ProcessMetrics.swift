#if canImport(Glibc)
  import Glibc
#endif

/// The metrics `process_*` and `attribution_build_info`.
enum ProcessMetrics {
  static func install(_ registry: MetricsRegistry) {
    registry.gauge("attribution_build_info", help: "Version and revision of this build.", labels: ["version", "revision"])
    registry.set("attribution_build_info", 1, [BuildInformation.version, BuildInformation.commit])
    registry.gauge("process_resident_memory_bytes", help: "Resident memory in bytes.")
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
      }
    }
  }
}
