import NIOCore

/// Sets the number of event loops of the process.
enum EventLoopCount {
  /// Descriptors per event loop: three of the loop itself, and the two ends of a pipe if it works a queue (`LoopSlices` in EventLoops).
  private static let descriptorsPerLoop = 5

  /// Sets the number as configured, or to one per available core. Must be called before the first event loop is used. Throws if the process
  /// may not open enough files for the configured number, because an event loop without descriptors would crash the process.
  static func settle(configured: Int?) throws(ConfigurationError) {
    if let configured, let limit = DescriptorLimit.current,
      configured * descriptorsPerLoop + ConnectionLimit.reservedDescriptors > limit
    {
      throw ConfigurationError("ATTRIBUTION_EVENT_LOOPS", "needs more open files than the system allows, which is \(limit)")
    }
    NIOSingletons.groupLoopCountSuggestion = configured ?? AvailableCores.count
  }
}
