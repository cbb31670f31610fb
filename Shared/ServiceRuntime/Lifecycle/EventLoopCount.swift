import NIOCore

/// The number of event loops of the process.
enum EventLoopCount {
  /// Descriptors per loop: three of its own, and the two ends of a pipe in a loop that works a queue.
  private static let descriptors = 5

  /// Sets the number before the first loop is used: as configured, or one per available core. Throws if there are too few descriptors for
  /// the configured number, because a loop without descriptors would crash the process.
  static func settle(configured: Int?) throws(ConfigurationError) {
    if let configured, let limit = DescriptorLimit.current,
      configured * descriptors + ConnectionLimit.reservedDescriptors > limit
    {
      throw ConfigurationError("ATTRIBUTION_EVENT_LOOPS", "is more than there are open files for: the system allows \(limit)")
    }
    NIOSingletons.groupLoopCountSuggestion = configured ?? AvailableCores.count
  }
}
