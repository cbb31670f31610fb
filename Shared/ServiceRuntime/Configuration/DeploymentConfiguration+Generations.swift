import AttributionQueue

extension DeploymentConfiguration {
  /// Throws ``ConfigurationError`` if natural keys would be forgotten while their senders still retry, because a retry would then count
  /// twice. Development accepts any time.
  func checkGenerations(development: Bool) throws(ConfigurationError) {
    guard !development else { return }
    guard queue.deliveryGeneration >= QueueConfiguration.minDeliveryGeneration else {
      throw ConfigurationError(
        "queues.deliveryGeneration",
        """
        must be at least 9d, because devices repeat a postback for nine days; a shorter time is for development \
        (ATTRIBUTION_DEVELOPMENT=1)
        """)
    }
    guard queue.notificationGeneration >= QueueConfiguration.minNotificationGeneration else {
      throw ConfigurationError(
        "queues.notificationGeneration",
        """
        must be at least 7d, because the App Store repeats a notification for nearly seven days; a shorter time is for development \
        (ATTRIBUTION_DEVELOPMENT=1)
        """)
    }
  }
}
