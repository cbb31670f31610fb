import Cryptography
public import Logging
public import RedisClient
import Synchronization

/// Counts the outcomes and values of deliveries in memory, and writes the sums to Redis periodically, so that a delivery needs no command
/// of its own. ``Settlement`` adds the counts, ``DeliveryCounts`` reads them.
///
/// Each process has its own field in the hash of a period and writes its whole sum of the period, so that writing is idempotent. The counts
/// are for plots: what a process has not written when it is killed is lost.
public final class DeliveryCounter: Sendable {
  /// A hash of counts: one period, of outcomes or of values.
  struct Hash: Hashable {
    let period: CountPeriod
    let number: Int64
    let holdsValues: Bool

    var key: String { Keys.counts(period, number, holdsValues: holdsValues) }
    /// When the period ends, milliseconds since 1970.
    var end: Int64 { (number + 1) * period.milliseconds }
  }

  /// The counts of a period: of outcomes, or of values.
  private struct Sum {
    var outcomes: [CountedOutcome: Int64] = [:]
    var values: [CountedValue: Int64] = [:]
    /// The number of deliveries that were counted and not written yet.
    var unwritten = 0
    var writtenAt = ContinuousClock.now
    /// True if the expiry of the hash was set.
    var hasExpiry = false

    /// The approximate size of ``text``.
    var bytes: Int { (outcomes.count + values.count) * DeliveryCounter.bytesPerCounter }

    /// The text that is stored: for each outcome or value a line with its name and its count.
    var text: String {
      var text = ""
      for (outcome, count) in outcomes { text += "\(outcome.field) \(count)\n" }
      for (value, count) in values { text += "\(value.field) \(count)\n" }
      return text
    }
  }

  private struct State {
    /// Counts since the last merge: of outcomes by the number of the minute, of values by the number of the hour. Merging them later keeps
    /// the work per delivery small.
    var outcomes: [Int64: [CountedOutcome: Int64]] = [:]
    var values: [Int64: [CountedValue: Int64]] = [:]
    var sums: [Hash: Sum] = [:]

    /// Merges the counts into the sums.
    mutating func addUp() {
      for (minute, outcomes) in outcomes {
        for period in CountPeriod.allCases {
          let hash = Hash(period: period, number: period.number(at: minute * CountPeriod.minute.milliseconds), holdsValues: false)
          // The sum is moved out of the dictionary, so that it is changed in place and not copied.
          var sum = sums.removeValue(forKey: hash) ?? Sum()
          for (outcome, count) in outcomes {
            sum.outcomes[outcome, default: 0] += count
            sum.unwritten += Int(count)
          }
          sums[hash] = sum
        }
      }
      for (hour, values) in values {
        let hash = Hash(period: .hour, number: hour, holdsValues: true)
        var sum = sums.removeValue(forKey: hash) ?? Sum()
        for (value, count) in values {
          let isCounted = sum.values[value] != nil || sum.values.count < DeliveryCounter.maxValues
          sum.values[isCounted ? value : .other, default: 0] += count
          sum.unwritten += Int(count)
        }
        sums[hash] = sum
      }
      (outcomes, values) = ([:], [:])
    }
  }

  /// The maximum number of different values that one process counts within an hour: devices in Developer Mode can create postbacks of any
  /// number of apps.
  static let maxValues = 4000
  /// How often the counter checks whether something must be written.
  private static let checkInterval: Duration = .seconds(1)
  /// The time after which counts of a few deliveries are written too.
  private static let maxWait: Duration = .seconds(5)
  /// The time after which a sum is written in any case, even a large one with few new deliveries.
  private static let maxDelay: Duration = .seconds(60)
  /// The number of unwritten deliveries from which a sum is written at the next check.
  private static let manyUnwritten = 64
  /// The approximate size of a line of ``Sum/text``.
  private static let bytesPerCounter = 40
  /// The bytes that may be written per delivery: a large sum is therefore written less often.
  private static let maxBytesPerDelivery = 256
  /// How long after the end of its period a sum that could not be written stays in memory, milliseconds.
  private static let unwrittenRetention: Int64 = 600_000

  private let redis: RedisClient
  private let logger: Logger
  /// The field of this process.
  private let name = RandomBytes.uuid()
  private let state = Mutex(State())

  public init(redis: RedisClient, logger: Logger) {
    self.redis = redis
    self.logger = logger
  }

  /// Counts finished deliveries.
  ///
  /// - Parameters:
  ///   - outcomes: how many deliveries had each outcome; an outcome may occur several times.
  ///   - time: milliseconds since 1970.
  func add(_ outcomes: [(outcome: CountedOutcome, count: Int64)], _ values: [CountedValue], at time: Int64) {
    let (minute, hour) = (CountPeriod.minute.number(at: time), CountPeriod.hour.number(at: time))
    state.withLock { state in
      for (outcome, count) in outcomes { state.outcomes[minute, default: [:]][outcome, default: 0] += count }
      for value in values { state.values[hour, default: [:]][value, default: 0] += 1 }
    }
  }

  /// Writes sums periodically until its task is cancelled, and once more at the end.
  public func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.checkInterval) } catch { break }
      await write(all: false)
    }
    await write(all: true)
  }

  /// Writes changed sums: all of them, or those that are due.
  func write(all: Bool = true) async {
    for (hash, sum) in due(all: all) {
      do throws(RedisError) {
        _ = try await redis.send(["HSET", .string(hash.key), .string(name), .string(sum.text)])
        if !sum.hasExpiry { _ = try await redis.send(["EXPIRE", .string(hash.key), .integer(hash.period.expirySeconds)]) }
        state.withLock { state in
          state.sums[hash]?.unwritten -= sum.unwritten
          state.sums[hash]?.writtenAt = .now
          state.sums[hash]?.hasExpiry = true
        }
      } catch {
        logger.debug("counts of deliveries cannot be written", metadata: ["reason": "\(error)"])
      }
    }
    removeEnded()
  }

  private func due(all: Bool) -> [(Hash, Sum)] {
    let now = DeliveryQueue.now
    return state.withLock { state in
      state.addUp()
      return state.sums.filter { hash, sum in
        guard sum.unwritten > 0 else { return false }
        if all || hash.end < now { return true }
        let waited = sum.writtenAt.duration(to: .now)
        guard waited < Self.maxDelay else { return true }
        return (waited >= Self.maxWait || sum.unwritten >= Self.manyUnwritten) && sum.unwritten * Self.maxBytesPerDelivery >= sum.bytes
      }.map { ($0.key, $0.value) }
    }
  }

  /// Removes the sums of periods that have ended: two minutes later, in case the clock is set back, or after ``unwrittenRetention`` if they
  /// could not be written.
  private func removeEnded() {
    let now = DeliveryQueue.now
    state.withLock { state in
      state.sums = state.sums.filter { hash, sum in hash.end + (sum.unwritten > 0 ? Self.unwrittenRetention : 120_000) > now }
    }
  }
}
