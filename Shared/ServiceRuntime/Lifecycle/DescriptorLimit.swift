import Glibc

/// How many descriptors (open files) the process may have.
enum DescriptorLimit {
  private static let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)

  /// Nil when the system does not say.
  static var current: Int? {
    var limit = rlimit()
    return getrlimit(resource, &limit) == 0 ? Int(clamping: limit.rlim_cur) : nil
  }

  /// Raises it as far as it may be raised.
  static func raise() {
    var limit = rlimit()
    guard getrlimit(resource, &limit) == 0, limit.rlim_cur < limit.rlim_max else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(resource, &limit)
  }
}
