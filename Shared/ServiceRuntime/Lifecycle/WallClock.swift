#if canImport(Glibc)
  import Glibc
#endif

/// The system's clock, which may be set, unlike `ContinuousClock`.
public enum WallClock {
  /// Milliseconds since 1970.
  @Sendable public static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
