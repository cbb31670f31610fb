import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import Synchronization

/// Counts verified notifications by app and by the second of their receipt, and writes the counts to Redis once a second, so that a
/// delivery costs no command. Notification-recovery uses the counts to detect silences.
final class VerifiedArrivals: Sendable {
  struct Source: Sendable, Hashable {
    let environment: String
    let bundleId: String
  }

  /// The most groups in one command, because a backlog of hours is processed within minutes.
  private static let maxGroups = 500
  /// The interval between writes of the counts. Recovery waits for several times as long (``OutageDetector``).
  private static let interval: Duration = .seconds(1)

  private let journal: IntakeJournal
  /// The setting of notification-recovery: a longer pause is a silence.
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

  /// Returns the counts since the last call, oldest first, and resets them.
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
      await note()
    }
    await note()
  }

  private func note() async {
    for (source, groups) in take() {
      for start in stride(from: 0, to: groups.count, by: Self.maxGroups) {
        let some = Array(groups[start..<min(start + Self.maxGroups, groups.count)])
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
