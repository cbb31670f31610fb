import AttributionQueue

/// Reads the section `queues` into AttributionQueue's `QueueConfiguration`, whose properties have the same names as the keys.
extension DeploymentConfiguration {
  private static let minute: Duration = .seconds(60)
  private static let day: Duration = .seconds(86_400)
  /// Ten years. A longer time is probably a mistake, and Redis refuses expiry times that are too long.
  private static let maxTime = day * 3660

  static func read(
    queues node: ConfigurationNode, into queue: inout QueueConfiguration, _ unknown: inout [UnknownKey]
  )
    throws(ConfigurationError)
  {
    unknown += node.unknownKeys([
      "lease", "workerTimeout", "maxAttempts", "maxDeliveries", "backlogBound", "backoffBase", "backoffCap", "backoff", "seenBuckets",
      "copyGeneration", "unsignedDigests", "deliveryGeneration", "notificationGeneration", "clockDifference", "deliveryRecordTTL",
      "rejectedBytes", "eventRetention", "subscriptionBacklog", "acknowledgedEventTTL",
      "rpcAnswerTTL", "durability", "replicas", "replicationTimeout", "deadLetterBytes", "deadLetterAge",
    ])
    if let level = node["durability"] {
      guard let durability = Durability(rawValue: try level.text()) else {
        throw ConfigurationError(level.path, "must be process, disk or replicated")
      }
      queue.durability = durability
    }
    try node.count("replicas", 1...100, &queue.replicas)
    try node.time("replicationTimeout", .milliseconds(1)...Self.minute, &queue.replicationTimeout)
    try node.count("deadLetterBytes", 1...1 << 50, &queue.deadLetterBytes)
    try node.time("deadLetterAge", .seconds(1)...Self.maxTime, &queue.deadLetterAge)
    try node.time("lease", .seconds(1)...Self.day, &queue.lease)
    try node.time("workerTimeout", .seconds(1)...Self.day, &queue.workerTimeout)
    try node.count("maxAttempts", 1...1 << 30, &queue.maxAttempts)
    try node.count("maxDeliveries", 1...1 << 30, &queue.maxDeliveries)
    try node.count("backlogBound", 1...1 << 40, &queue.backlogBound)
    try node.time("backoffBase", .milliseconds(1)...Self.day, &queue.backoffBase)
    try node.time("backoffCap", .milliseconds(1)...Self.day, &queue.backoffCap)
    if let table = try node["backoff"]?.mapping() { try read(backoff: table, into: &queue, &unknown) }
    try node.count("seenBuckets", 1...1 << 24, &queue.seenBuckets)
    try node.time("copyGeneration", .seconds(1)...Self.maxTime, &queue.copyGeneration)
    queue.unsignedDigests = try node["unsignedDigests"]?.bool() ?? queue.unsignedDigests
    try node.time("deliveryGeneration", Self.minute...Self.maxTime, &queue.deliveryGeneration)
    try node.time("notificationGeneration", Self.minute...Self.maxTime, &queue.notificationGeneration)
    try node.time("clockDifference", .zero...Self.maxTime, &queue.clockDifference)
    // Records expire by Redis' EXPIRE, which counts in seconds.
    try node.time("deliveryRecordTTL", .seconds(1)...Self.maxTime, &queue.deliveryRecordTTL)
    try node.count("rejectedBytes", 0...1 << 50, &queue.rejectedBytes)
    try node.time("eventRetention", .seconds(1)...Self.maxTime, &queue.eventRetention)
    try node.count("subscriptionBacklog", 1...1 << 40, &queue.subscriptionBacklog)
    try node.time("acknowledgedEventTTL", .zero...Self.maxTime, &queue.acknowledgedEventTTL)
    try node.time("rpcAnswerTTL", .seconds(1)...Self.maxTime, &queue.rpcAnswerTTL)
  }

  /// Reads `backoff`: the backoff of single queues, by their names.
  private static func read(
    backoff table: ConfigurationNode, into queue: inout QueueConfiguration, _ unknown: inout [UnknownKey]
  ) throws(ConfigurationError) {
    for name in table.keys {
      guard let queueName = QueueName(rawValue: name), queueName != .tokens else {
        let known = QueueName.allCases.filter { $0 != .tokens }.map(\.rawValue).joined(separator: ", ")
        throw ConfigurationError("\(table.path).\(name)", "is not a queue with a backoff; the queues with one are: \(known)")
      }
      let entry = try table.required(name).mapping()
      unknown += entry.unknownKeys(["base", "cap"])
      var backoff = queue.backoff(of: queueName)
      try entry.time("base", .milliseconds(1)...day, &backoff.base)
      try entry.time("cap", .milliseconds(1)...day, &backoff.cap)
      queue.backoff[queueName] = backoff
    }
  }
}
