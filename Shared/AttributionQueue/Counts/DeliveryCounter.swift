import Cryptography
public import Logging
public import RedisClient
import Synchronization

/// Counts how deliveries end and what they say, in memory, and keeps the sums in Redis: a delivery costs no command.
///
/// A process has a field of its own in the hash of each period and writes its whole sum of the period into it, so that a write that is
/// repeated changes nothing. The counts are for plots: what a process has counted and not written when it is killed is lost.
public final class DeliveryCounter: Sendable {
  /// A hash of counts: one period, of ends or of values.
  struct Hash: Hashable {
    let period: CountPeriod
    let number: Int64
    let holdsValues: Bool

    var key: String { Keys.counts(period, number, holdsValues: holdsValues) }
    /// When nothing more is counted in it.
    var end: Int64 { (number + 1) * period.milliseconds }
  }

  /// What was counted in a period.
  private struct Sum {
    var ends: [CountedOutcome: Int64] = [:]
    var values: [CountedValue: Int64] = [:]
    /// Deliveries that were counted and not written yet.
    var unwritten = 0
    var writtenAt = ContinuousClock.now
    /// Whether the hash has been given its time to live.
    var hasEnd = false

    var bytes: Int { (ends.count + values.count) * DeliveryCounter.usualBytes }

    /// As it is kept: a line a counter.
    var text: String {
      var text = ""
      for (end, count) in ends { text += "\(end.field) \(count)\n" }
      for (value, count) in values { text += "\(value.field) \(count)\n" }
      return text
    }
  }

  private struct State {
    /// What was counted since the last look, by minute and by hour: little is done for each delivery.
    var ends: [Int64: [CountedOutcome: Int64]] = [:]
    var values: [Int64: [CountedValue: Int64]] = [:]
    var sums: [Hash: Sum] = [:]

    /// Adds what was counted to the sums.
    mutating func addUp() {
      for (minute, ends) in ends {
        for period in CountPeriod.allCases {
          let hash = Hash(period: period, number: period.number(at: minute * CountPeriod.minute.milliseconds), holdsValues: false)
          // Taken out, so that it is changed in its place.
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
          let isCounted = sum.values[value] != nil || sum.values.count < DeliveryCounter.mostValues
          sum.values[isCounted ? value : .other, default: 0] += count
          sum.unwritten += Int(count)
        }
        sums[hash] = sum
      }
      (ends, values) = ([:], [:])
    }
  }

  /// Different values that one process counts one by one within an hour. Devices in Developer Mode can make postbacks of many apps.
  static let mostValues = 4000
  /// How often is looked whether something is to be written.
  private static let look: Duration = .seconds(1)
  /// How long a few deliveries wait to be written together, and many of many values.
  private static let patience: Duration = .seconds(5)
  private static let longestPatience: Duration = .seconds(60)
  /// So many deliveries are written at the next look.
  private static let many = 64
  /// Bytes of a counter, about, and those that may be written for each delivery: a sum of many counters is written seldom.
  private static let usualBytes = 40
  private static let bytesEach = 256
  /// What could not be written is given up so long after its period.
  private static let keptWhileAway: Int64 = 600_000

  private let redis: RedisClient
  private let logger: Logger
  /// The process's field.
  private let name = RandomBytes.uuid()
  private let state = Mutex(State())

  public init(redis: RedisClient, logger: Logger) {
    self.redis = redis
    self.logger = logger
  }

  /// Counts a delivery that has ended.
  ///
  /// - Parameter time: milliseconds since 1970.
  func add(_ end: CountedOutcome, _ values: [CountedValue], at time: Int64) {
    state.withLock { state in
      state.ends[CountPeriod.minute.number(at: time), default: [:]][end, default: 0] += 1
      guard !values.isEmpty else { return }
      let hour = CountPeriod.hour.number(at: time)
      for value in values { state.values[hour, default: [:]][value, default: 0] += 1 }
    }
  }

  /// Writes what is counted, until its task is cancelled, and then once more.
  public func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.look) } catch { break }
      await write(all: false)
    }
    await write(all: true)
  }

  /// Writes sums that have changed: all of them, or those whose time it is.
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
        guard waited < Self.longestPatience else { return true }
        return (waited >= Self.patience || sum.unwritten >= Self.many) && sum.unwritten * Self.bytesEach >= sum.bytes
      }.map { ($0.key, $0.value) }
    }
  }

  /// Lets go of periods that are over and written, and of those that could not be written for too long. A clock that is set back a little
  /// finds its period still.
  private func forget() {
    let now = DeliveryQueue.now
    state.withLock { state in
      state.sums = state.sums.filter { hash, sum in hash.end + (sum.unwritten > 0 ? Self.keptWhileAway : 120_000) > now }
    }
  }
}
