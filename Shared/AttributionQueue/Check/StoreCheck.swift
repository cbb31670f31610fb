public import RedisClient

/// Checks the consistency of all shards while the system is running. Work in progress is not reported as a fault. Nothing is changed unless
/// repairs are requested. ``StoreRule`` lists the rules.
///
/// ``KeyWalk`` scans all key names. Then each shard is checked: its events (``EventCheck``), and each queue's part of it (``QueueCheck``).
/// At the end the schedules are checked (``ScheduleCheck``).
public struct StoreCheck: Sendable {
  public struct Options: Sendable {
    /// The maximum number of listed faults; all are counted.
    public var maxFaults = 1000
    /// True if faults are repaired where possible.
    public var repairs = false
    /// True if all key names are scanned for records without messages, order lines and unknown keys.
    public var walksKeys = true
    /// The number of shards that are checked concurrently.
    public var concurrentShards = 4
    /// How long records are stored (`queues.deliveryRecordTTL`).
    public var recordTTL: Duration = QueueConfiguration().deliveryRecordTTL
    /// The time between the two reads of data that is written in two steps.
    public var pause: Duration = .seconds(2)

    public init() {}
  }

  private let redis: RedisClient
  private let options: Options

  public init(redis: RedisClient, options: Options) {
    self.redis = redis
    self.options = options
  }

  private struct Part: Sendable {
    var shard: Shard
    var events: EventCheck.Result
    var queues: [QueueName: QueueCheck.Result]
  }

  public func run() async throws -> CheckReport {
    let reader = StoreReader(redis: redis)
    let storeRepair = options.repairs ? StoreRepair(redis: redis) : nil
    var report = CheckReport(maxFaults: options.maxFaults, repairs: options.repairs, walkedKeys: options.walksKeys)
    let found = options.walksKeys ? try await KeyWalk(redis: redis).walk() : KeyWalk.Found()
    report.keys = found.keys
    for fault in found.faults { report.add(fault) }
    var due: [QueueName: [Shard: Double]] = [:]
    try await withThrowingTaskGroup(of: Part.self) { group in
      var left = Shard.all.makeIterator()
      for _ in 0..<max(1, options.concurrentShards) {
        guard let shard = left.next() else { break }
        group.addTask { try await check(shard, found, reader, storeRepair) }
      }
      while let part = try await group.next() {
        if let shard = left.next() { group.addTask { try await check(shard, found, reader, storeRepair) } }
        report.shards += 1
        report.events += part.events.events
        for fault in part.events.faults { report.add(fault) }
        for queue in QueueName.allCases {
          guard let result = part.queues[queue] else { continue }
          report.messages += result.messages
          for fault in result.faults { report.add(fault) }
          if let first = result.firstDue { due[queue, default: [:]][part.shard] = first }
        }
      }
    }
    try await checkSchedule(due, reader, storeRepair, &report)
    return report
  }

  private func check(_ shard: Shard, _ found: KeyWalk.Found, _ reader: StoreReader, _ storeRepair: StoreRepair?) async throws -> Part {
    var part = Part(shard: shard, events: try await EventCheck(reader: reader, storeRepair: storeRepair).check(shard), queues: [:])
    let queueReader = QueueReader(reader: reader, recordTTL: options.recordTTL, now: DeliveryQueue.now)
    let check = QueueCheck(reader: queueReader, redis: redis, storeRepair: storeRepair)
    for queue in QueueName.allCases {
      part.queues[queue] = try await check.check(
        queue, shard, lines: found.lines[queue]?[shard] ?? [], accepted: found.accepted[queue]?[shard] ?? [])
    }
    return part
  }

  private func checkSchedule(
    _ due: [QueueName: [Shard: Double]], _ reader: StoreReader, _ storeRepair: StoreRepair?, _ report: inout CheckReport
  ) async throws {
    let check = ScheduleCheck(reader: reader)
    var suspects: [QueueName: [Shard: Double]] = [:]
    for queue in QueueName.allCases {
      do {
        suspects[queue] = try await check.missing(queue, due[queue] ?? [:])
      } catch let wrong as StoreReader.WrongType {
        report.add(StoreFault(.wrongType, Shard(0), key: wrong.key, queue: queue))
      }
    }
    guard suspects.values.contains(where: { !$0.isEmpty }) else { return }
    try await Task.sleep(for: options.pause)
    for queue in QueueName.allCases {
      for (shard, due) in try await check.stillMissing(queue, suspects[queue] ?? [:]) {
        var fault = StoreFault(.scheduleMissing, shard, key: Keys.schedule(queue), id: "\(shard.index)", queue: queue)
        if let storeRepair {
          try await storeRepair.note(queue, shard, due: due)
          fault.isRepaired = true
        }
        report.add(fault)
      }
    }
  }
}
