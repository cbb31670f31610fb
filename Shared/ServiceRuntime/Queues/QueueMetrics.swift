public import AttributionQueue

/// The metrics of the queues, `attribution_queue_*`: of their contents, of accepted messages, and of a worker's work.
public enum QueueMetrics {
  /// Registers the metrics of the queues' contents, which are queried before each scrape.
  static func install(_ administration: QueueAdministration, _ registry: MetricsRegistry) {
    for (name, help) in [
      ("ready", "Messages that are ready, including those that the owner of their shard is processing."),
      ("in_flight", "Messages that have their own lease."),
      ("delayed", "Messages that wait for a retry or in their order line."), ("dead", "Dead letters that are stored."),
    ] {
      registry.gauge("attribution_queue_\(name)", help: help, labels: ["queue"])
    }
    registry.gauge("attribution_queue_oldest_age_seconds", help: "Age of the oldest message, in seconds.", labels: ["queue"])
    registry.counter(
      "attribution_queue_dead_dropped_total", help: "Dead letters that were deleted because of their age or the memory limit.",
      labels: ["queue", "cause"])
    registry.collect {
      for queue in QueueName.allCases {
        let dropped = administration.droppedDeadLetters.count(queue)
        registry.set("attribution_queue_dead_dropped_total", Double(dropped.aged), [queue.rawValue, "age"])
        registry.set("attribution_queue_dead_dropped_total", Double(dropped.large), [queue.rawValue, "memory"])
      }
    }
    for queue in QueueName.allCases {
      registry.collect {
        guard let snapshot = try? await administration.snapshot(queue) else { return }
        let label = [queue.rawValue]
        registry.set("attribution_queue_ready", Double(snapshot.depth), label)
        registry.set("attribution_queue_in_flight", Double(snapshot.inFlight), label)
        registry.set("attribution_queue_delayed", Double(snapshot.delayed), label)
        registry.set("attribution_queue_dead", Double(snapshot.dead), label)
        registry.set("attribution_queue_oldest_age_seconds", snapshot.oldestAgeSeconds ?? 0, label)
      }
    }
  }

  /// Registers the metric of accepted messages. Returns the closure that counts a message that this process accepted.
  static func acceptObserver(_ registry: MetricsRegistry) -> @Sendable (QueueName) -> Void {
    registry.counter("attribution_queue_enqueued_total", help: "Messages accepted; duplicates do not count.", labels: ["queue"])
    // The series are looked up once, because every accept counts.
    let series = QueueName.allCases.compactMap { queue in
      registry.series("attribution_queue_enqueued_total", [queue.rawValue]).map { (queue, $0) }
    }
    let accepted = Dictionary(uniqueKeysWithValues: series)
    return { accepted[$0]?.add() }
  }

  /// Registers the metrics of a worker. Returns the closure that records the worker's observations.
  public static func observer(_ queue: QueueName, _ registry: MetricsRegistry)
    -> @Sendable (WorkObservation) -> Void
  {
    let name = queue.rawValue
    registry.counter(
      "attribution_queue_processed_total", help: "Messages processed, by outcome.", labels: ["queue", "outcome"])
    registry.counter("attribution_queue_retries_total", help: "Messages that will be retried.", labels: ["queue"])
    registry.counter(
      "attribution_queue_lease_lost_total", help: "Messages whose lease was taken over by another worker.", labels: ["queue"])
    registry.counter(
      "attribution_queue_reclaimed_total", help: "Messages taken over from workers that have ended.", labels: ["queue"])
    registry.counter(
      "attribution_queue_rejected_dropped_total", help: "Bodies of rejected deliveries that were dropped because of the memory limit.",
      labels: ["queue"])
    registry.histogram("attribution_queue_wait_seconds", help: "Time from receipt to the end of processing.", labels: ["queue"])
    registry.histogram(
      "attribution_queue_process_seconds", help: "Time to process a message, or the messages that are handled together with it.",
      labels: ["queue"])
    // The series are looked up once, because every message records into them.
    let outcomes = KnownSeries { registry.series("attribution_queue_processed_total", [name, $0]) }
    let worked = registry.series("attribution_queue_process_seconds", [name])
    let waiting = registry.series("attribution_queue_wait_seconds", [name])
    return { observation in
      switch observation {
      case .processed(let outcome, let seconds, let waited, let span):
        outcomes[outcome]?.add()
        if outcome == "retried" { registry.add("attribution_queue_retries_total", 1, [name]) }
        worked?.observe(seconds, of: span)
        waiting?.observe(max(0, waited), of: span)
      case .leaseLost: registry.add("attribution_queue_lease_lost_total", 1, [name])
      case .reclaimed(let count): registry.add("attribution_queue_reclaimed_total", Double(count), [name])
      case .rejectedBodiesDropped(let count): registry.add("attribution_queue_rejected_dropped_total", Double(count), [name])
      }
    }
  }
}
