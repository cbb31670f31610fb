import AttributionQueue

extension DeploymentConfiguration {
  /// Throws ``ConfigurationError`` if natural keys or responses of calls would expire while a sender may still repeat the delivery or the
  /// call, because the repeat would then count twice. In development any time is accepted.
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
        must be at least 180d, because a notification can be recovered from Apple's history for 180 days; a shorter time is for development \
        (ATTRIBUTION_DEVELOPMENT=1)
        """)
    }
    guard queue.rpcAnswerTTL >= QueueConfiguration.minRPCAnswerTTL else {
      throw ConfigurationError(
        "queues.rpcAnswerTTL",
        """
        must be at least 1d, because callers may repeat a call under its Idempotency-Key for a day; a shorter time is for development \
        (ATTRIBUTION_DEVELOPMENT=1)
        """)
    }
  }
}
