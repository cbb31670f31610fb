public import Logging
public import RedisClient
import Synchronization

/// Counts how deliveries end and what they say, and adds the counts in Redis once a second: a delivery costs no command. The counts are for
/// plots: what a process has counted and not added when it is killed is lost.
public final class DeliveryCounter: Sendable {
  /// A hash of counters: one period, of ends or of values.
  struct Hash: Hashable {
    let period: CountPeriod
    let number: Int64
    let holdsValues: Bool

    var key: String { Keys.counts(period, number, holdsValues: holdsValues) }
  }

  private struct State {
    var ends: [Int64: [CountedEnd: Int64]] = [:]
    var values: [Int64: [CountedValue: Int64]] = [:]
    /// The hour whose different values are known, and these.
    var hour: Int64 = 0
    var known: Set<CountedValue> = []
    /// What could not be added: kept for another try.
    var left: [Hash: [String: Int64]] = [:]
  }

  /// Different values that one process counts one by one within an hour. Devices in Developer Mode can make postbacks of many apps.
  static let mostValues = 4000
  /// How often counts are added.
  private static let interval: Duration = .seconds(1)
  /// Counts that are older are given up while Redis is away.
  private static let patience: Int64 = 600_000
  /// Counters that one script adds to.
  private static let most = 500

  private let redis: RedisClient
  private let logger: Logger
  private let state = Mutex(State())

  public init(redis: RedisClient, logger: Logger) {
    self.redis = redis
    self.logger = logger
  }

  /// Counts a delivery that has ended.
  ///
  /// - Parameter time: milliseconds since 1970.
  func add(_ end: CountedEnd, _ values: [CountedValue], at time: Int64) {
    state.withLock { state in
      state.ends[CountPeriod.minute.number(at: time), default: [:]][end, default: 0] += 1
      guard !values.isEmpty else { return }
      let hour = CountPeriod.hour.number(at: time)
      if state.hour != hour {
        state.hour = hour
        state.known = []
      }
      for value in values {
        let isCounted = state.known.contains(value) || state.known.count < Self.mostValues
        if isCounted { state.known.insert(value) }
        state.values[hour, default: [:]][isCounted ? value : .other, default: 0] += 1
      }
    }
  }

  /// Adds what is counted, until its task is cancelled, and then once more.
  public func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.interval) } catch { break }
      await write()
    }
    await write()
  }

  /// Adds what was counted since the last time.
  func write() async {
    for (hash, counts) in take() {
      let fields = Array(counts)
      for start in stride(from: 0, to: fields.count, by: Self.most) {
        let some = fields[start..<min(start + Self.most, fields.count)]
        var arguments: [RedisArgument] = [.integer(hash.period.lifeSeconds)]
        for (field, count) in some {
          arguments.append(.string(field))
          arguments.append(.integer(count))
        }
        do throws(RedisError) {
          _ = try await Scripts.tally.run(redis, [hash.key], arguments)
        } catch {
          logger.debug("counts of deliveries cannot be added", metadata: ["reason": "\(error)"])
          state.withLock { state in
            for (field, count) in some { state.left[hash, default: [:]][field, default: 0] += count }
          }
        }
      }
    }
  }

  private func take() -> [Hash: [String: Int64]] {
    let (ends, values, left) = state.withLock { state in
      defer { (state.ends, state.values, state.left) = ([:], [:], [:]) }
      return (state.ends, state.values, state.left)
    }
    let oldest = DeliveryQueue.now - Self.patience
    var hashes = left.filter { ($0.key.number + 1) * $0.key.period.milliseconds > oldest }
    for (minute, counts) in ends {
      let hour = CountPeriod.hour.number(at: minute * CountPeriod.minute.milliseconds)
      for (end, count) in counts {
        hashes[Hash(period: .minute, number: minute, holdsValues: false), default: [:]][end.field, default: 0] += count
        hashes[Hash(period: .hour, number: hour, holdsValues: false), default: [:]][end.field, default: 0] += count
      }
    }
    for (hour, counts) in values {
      for (value, count) in counts {
        hashes[Hash(period: .hour, number: hour, holdsValues: true), default: [:]][value.field, default: 0] += count
      }
    }
    return hashes
  }
}
