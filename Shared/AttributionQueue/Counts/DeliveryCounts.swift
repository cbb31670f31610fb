public import RedisClient
import Synchronization

/// Reads the counts that the ``DeliveryCounter`` of all processes have written.
public final class DeliveryCounts: Sendable {
  /// The outcomes of deliveries within one period.
  public struct Period: Sendable, Hashable {
    /// Milliseconds since 1970.
    public let start: Int64
    public let outcomes: [CountedOutcome: Int64]
  }

  /// How long after its end the counts of a period may still grow, because they are written later and clocks differ; milliseconds.
  private static let settling: Int64 = 120_000

  private let redis: RedisClient
  /// A cache of hashes that no longer change.
  private let settled = Mutex<[DeliveryCounter.Hash: [String: Int64]]>([:])

  public init(redis: RedisClient) { self.redis = redis }

  /// The last periods up to now, oldest first, including empty ones.
  public func outcomes(_ period: CountPeriod, last count: Int) async throws(QueueError) -> [Period] {
    try await hashes(period, last: count, holdsValues: false).map { number, fields in
      var outcomes: [CountedOutcome: Int64] = [:]
      for (field, count) in fields { if let outcome = CountedOutcome(field: field) { outcomes[outcome, default: 0] += count } }
      return Period(start: number * period.milliseconds, outcomes: outcomes)
    }
  }

  /// The values of deliveries within the last hours, including the current one.
  public func values(lastHours count: Int) async throws(QueueError) -> [CountedValue: Int64] {
    var values: [CountedValue: Int64] = [:]
    for (_, fields) in try await hashes(.hour, last: count, holdsValues: true) {
      for (field, count) in fields { if let value = CountedValue(field: field) { values[value, default: 0] += count } }
    }
    return values
  }

  /// The numbers of the last periods, and the sums of all processes in each by field.
  private func hashes(_ period: CountPeriod, last count: Int, holdsValues: Bool) async throws(QueueError) -> [(Int64, [String: Int64])] {
    let now = DeliveryQueue.now
    let newest = period.number(at: now)
    let requested = (newest - Int64(count) + 1...newest).map { DeliveryCounter.Hash(period: period, number: $0, holdsValues: holdsValues) }
    let known = settled.withLock { $0 }
    let read = await withTaskGroup(of: Result<(DeliveryCounter.Hash, [String: Int64]), QueueError>.self) { group in
      for hash in requested where known[hash] == nil {
        group.addTask {
          do throws(RedisError) {
            let words = try await self.redis.send(["HGETALL", .string(hash.key)]).array ?? []
            var fields: [String: Int64] = [:]
            // Names and values in turn. The name is a process, and the value is its sum as text.
            for index in stride(from: 0, to: words.count - 1, by: 2) {
              for line in (words[index + 1].string ?? "").split(separator: "\n") {
                guard let space = line.lastIndex(of: " "), let count = Int64(line[line.index(after: space)...]) else { continue }
                fields[String(line[..<space]), default: 0] += count
              }
            }
            return .success((hash, fields))
          } catch { return .failure(.unavailable(error)) }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    var found = known
    for result in read {
      let (hash, fields) = try result.get()
      found[hash] = fields
    }
    let complete = found
    settled.withLock { settled in
      // The cache is replaced, which drops periods that are too old.
      settled = complete.filter { hash, _ in
        (hash.number + 1) * hash.period.milliseconds < now - Self.settling
          && hash.number > hash.period.number(at: now) - Int64(hash.period.storedPeriods)
      }
    }
    return requested.map { ($0.number, complete[$0] ?? [:]) }
  }
}
