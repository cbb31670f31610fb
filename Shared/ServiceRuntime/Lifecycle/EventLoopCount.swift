import NIOCore

/// How many event loops the process has.
enum EventLoopCount {
  /// Descriptors of a loop: three of its own, and a pipe's two ends where it works a queue.
  private static let descriptors = 5

  /// Settles it, before anything asks for a loop: so many as were configured, or one for each core that may be used. Throws when there
  /// are no descriptors for those that were configured: a loop that gets none ends the process.
  static func settle(configured: Int?) throws(ConfigurationError) {
    if let configured, let limit = DescriptorLimit.current,
      configured * descriptors + ConnectionLimit.reservedDescriptors > limit
    {
      throw ConfigurationError("ATTRIBUTION_EVENT_LOOPS", "is more than there are open files for: the system allows \(limit)")
    }
    NIOSingletons.groupLoopCountSuggestion = configured ?? AvailableCores.count
  }
}
