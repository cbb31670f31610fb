import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import Synchronization

/// Counts verified notifications by app and by the second of their receipt. The counts are written to Redis once a second, so that a
/// notification needs no command of its own. Notification-recovery detects silences by these counts (`OutageDetector` there).
final class VerifiedArrivals: Sendable {
  /// An app and the environment in which Apple signed its notifications.
  struct Source: Sendable, Hashable {
    let environment: String
    let bundleId: String
  }

  /// The maximum number of groups in one command. A backlog of hours is processed within minutes, so there may be many.
  private static let maxGroups = 500
  /// The interval between writes of the counts. `OutageDetector.countDelay` of notification-recovery must be longer.
  private static let interval: Duration = .seconds(1)

  private let journal: IntakeJournal
  /// The time between two notifications from which the pause counts as a silence (setting `recovery.silenceAfter`).
  private let silenceAfter: Duration
  private let logger: Logger
  private let counts = Mutex<[Source: [Int64: IntakeJournal.Group]]>([:])

  init(journal: IntakeJournal, silenceAfter: Duration, logger: Logger) {
    self.journal = journal
    self.silenceAfter = silenceAfter
    self.logger = logger
  }

  /// Counts one notification.
  ///
  /// - Parameter receivedAt: milliseconds since 1970.
  func add(environment: String, bundleId: String, receivedAt: Int64) {
    add(Source(environment: environment, bundleId: bundleId), IntakeJournal.Group(count: 1, first: receivedAt, last: receivedAt))
  }

  /// Returns the counts since the last call, the oldest group first, and resets them.
  func take() -> [Source: [IntakeJournal.Group]] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts.mapValues { groups in groups.values.sorted { $0.first < $1.first } }
    }
  }

  /// Writes the counts until its task is cancelled, and then once more.
  func run() async {
    while !Task.isCancelled {
      do { try await Task.sleep(for: Self.interval) } catch { break }
      await writeCounts()
    }
    await writeCounts()
  }

  /// Writes the counts. If Redis is unavailable, they are counted again and written with the next ones.
  private func writeCounts() async {
    for (source, groups) in take() {
      for start in stride(from: 0, to: groups.count, by: Self.maxGroups) {
        let batch = Array(groups[start..<min(start + Self.maxGroups, groups.count)])
        do throws(RedisError) {
          try await journal.note(environment: source.environment, bundleId: source.bundleId, batch, silenceAfter: silenceAfter)
        } catch {
          logger.debug("the counts of notifications cannot be written now", metadata: ["reason": "\(error)"])
          for group in batch { add(source, group) }
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
