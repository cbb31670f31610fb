import Cryptography
public import Logging
public import RedisClient
import Synchronization

/// Counts the outcomes and values of deliveries in memory, and writes the sums to Redis periodically, so that a delivery needs no command.
///
/// Each process has its own field in the hash of a period and writes its whole sum of the period, so that writing is idempotent. The counts
/// are for plots: counts that a process has not written when it is killed are lost.
public final class DeliveryCounter: Sendable {
  /// A hash of counts: one period, of outcomes or of values.
  struct Hash: Hashable {
    let period: CountPeriod
    let number: Int64
    let holdsValues: Bool

    var key: String { Keys.counts(period, number, holdsValues: holdsValues) }
    /// When the period ends.
    var end: Int64 { (number + 1) * period.milliseconds }
  }

  /// The counts of a period.
  private struct Sum {
    var ends: [CountedOutcome: Int64] = [:]
    var values: [CountedValue: Int64] = [:]
    /// The number of deliveries that were counted and not written yet.
    var unwritten = 0
    var writtenAt = ContinuousClock.now
    /// True if the expiry of the hash was set.
    var hasEnd = false

    var bytes: Int { (ends.count + values.count) * DeliveryCounter.usualBytes }

    /// The stored form: one line per counter.
    var text: String {
      var text = ""
      for (end, count) in ends { text += "\(end.field) \(count)\n" }
      for (value, count) in values { text += "\(value.field) \(count)\n" }
      return text
    }
  }

  private struct State {
    /// Counts since the last merge, by minute and hour. Merging them later keeps the work per delivery small.
    var ends: [Int64: [CountedOutcome: Int64]] = [:]
    var values: [Int64: [CountedValue: Int64]] = [:]
    var sums: [Hash: Sum] = [:]

    /// Merges the counts into the sums.
    mutating func addUp() {
      for (minute, ends) in ends {
        for period in CountPeriod.allCases {
          let hash = Hash(period: period, number: period.number(at: minute * CountPeriod.minute.milliseconds), holdsValues: false)
          // The sum is moved out of the dictionary, so that it is changed in place and not copied.
          var sum = sums.removeValue(forKey: hash) ?? Sum()
          for (end, count) in ends {
            sum.ends[end, default: 0] += count
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
      (ends, values) = ([:], [:])
    }
  }

  /// The maximum number of different values that one process counts within an hour: devices in Developer Mode can create postbacks of many
  /// apps.
  static let maxValues = 4000
  /// How often the counter checks whether something must be written.
  private static let checkInterval: Duration = .seconds(1)
  /// The maximum time that counts wait to be written together.
  private static let maxWait: Duration = .seconds(5)
  private static let maxPatience: Duration = .seconds(60)
  /// The number of deliveries at which a sum is written at the next check.
  private static let manyUnwritten = 64
  /// The approximate size of a counter, and the bytes that may be written per delivery: a sum with many counters is written less often.
  private static let usualBytes = 40
  private static let bytesEach = 256
  /// How long after its period a sum that could not be written is kept in memory, milliseconds.
  private static let keptUnwritten: Int64 = 600_000

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
  ///   - ends: how many deliveries had each outcome; an outcome may occur several times.
  ///   - time: milliseconds since 1970.
  func add(_ ends: [(end: CountedOutcome, count: Int64)], _ values: [CountedValue], at time: Int64) {
    let (minute, hour) = (CountPeriod.minute.number(at: time), CountPeriod.hour.number(at: time))
    state.withLock { state in
      for (end, count) in ends { state.ends[minute, default: [:]][end, default: 0] += count }
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
        if !sum.hasEnd { _ = try await redis.send(["EXPIRE", .string(hash.key), .integer(hash.period.lifeSeconds)]) }
        state.withLock { state in
          state.sums[hash]?.unwritten -= sum.unwritten
          state.sums[hash]?.writtenAt = .now
          state.sums[hash]?.hasEnd = true
        }
      } catch {
        logger.debug("counts of deliveries cannot be written", metadata: ["reason": "\(error)"])
      }
    }
    forget()
  }

  private func due(all: Bool) -> [(Hash, Sum)] {
    let now = DeliveryQueue.now
    return state.withLock { state in
      state.addUp()
      return state.sums.filter { hash, sum in
        guard sum.unwritten > 0 else { return false }
        if all || hash.end < now { return true }
        let waited = sum.writtenAt.duration(to: .now)
        guard waited < Self.maxPatience else { return true }
        return (waited >= Self.maxWait || sum.unwritten >= Self.manyUnwritten) && sum.unwritten * Self.bytesEach >= sum.bytes
      }.map { ($0.key, $0.value) }
    }
  }

  /// Removes periods that are over and written, and those that could not be written for too long. Periods are kept a little longer, in case
  /// the clock is set back.
  private func forget() {
    let now = DeliveryQueue.now
    state.withLock { state in
      state.sums = state.sums.filter { hash, sum in hash.end + (sum.unwritten > 0 ? Self.keptUnwritten : 120_000) > now }
    }
  }
}
