import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import Synchronization

/// Counts verified notifications by app and by the second in which they were received, and writes the counts to Redis once a second, so that a
/// delivery costs no command. Recovery decides by them whether an app is silent.
final class VerifiedArrivals: Sendable {
  struct Source: Sendable, Hashable {
    let environment: String
    let bundleId: String
  }

  /// Groups of one command: a backlog of hours is worked off within minutes.
  private static let most = 500
  /// How often counts are noted. Recovery waits for several times as long (``OutageDetector``).
  private static let interval: Duration = .seconds(1)

  private let journal: IntakeJournal
  /// As recovery has it: a silence is longer.
  private let silenceAfter: Duration
  private let logger: Logger
  private let counts = Mutex<[Source: [Int64: IntakeJournal.Group]]>([:])

  init(journal: IntakeJournal, silenceAfter: Duration, logger: Logger) {
    self.journal = journal
    self.silenceAfter = silenceAfter
    self.logger = logger
  }

  /// Counts one.
  ///
  /// - Parameter receivedAt: milliseconds since 1970.
  func add(environment: String, bundleId: String, receivedAt: Int64) {
    add(Source(environment: environment, bundleId: bundleId), IntakeJournal.Group(count: 1, first: receivedAt, last: receivedAt))
  }

  /// What was counted since it was taken last, oldest first.
  func take() -> [Source: [IntakeJournal.Group]] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts.mapValues { groups in groups.values.sorted { $0.first < $1.first } }
    }
  }

  /// Notes what is counted, until its task is cancelled, and then once more.
  func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.interval) } catch { break }
      await note()
    }
    await note()
  }

  private func note() async {
    for (source, groups) in take() {
      for start in stride(from: 0, to: groups.count, by: Self.most) {
        let some = Array(groups[start..<min(start + Self.most, groups.count)])
        do throws(RedisError) {
          try await journal.note(environment: source.environment, bundleId: source.bundleId, some, silenceAfter: silenceAfter)
        } catch {
          logger.debug("arrivals cannot be noted", metadata: ["reason": "\(error)"])
          for group in some { add(source, group) }
        }
      }
    }
  }

  private func add(_ source: Source, _ group: IntakeJournal.Group) {
    counts.withLock { counts in
      let second = group.last / 1000
      guard var known = counts[source, default: [:]][second] else {
        counts[source, default: [:]][second] = group
        return
      }
      known.count += group.count
      known.first = min(known.first, group.first)
      known.last = max(known.last, group.last)
      counts[source, default: [:]][second] = known
    }
  }
}
