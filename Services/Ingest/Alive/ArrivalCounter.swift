import Synchronization

/// Counts the notifications that were taken in, by environment and app, until the next heartbeat takes the counts along.
///
/// What a notification says of itself is not proved yet: a stranger can make a silent app look talkative, and hide a silence. The
/// heartbeats and the schedule do not depend on it.
final class ArrivalCounter: Sendable {
  struct Source: Sendable, Hashable {
    let environment: String
    let bundleId: String
  }

  /// The apps of the configuration: nobody can make it count others.
  private let known: Set<Source>
  private let counts = Mutex<[Source: Int64]>([:])

  init(known: Set<Source>) { self.known = known }

  func count(environment: String?, bundleId: String?) {
    guard let environment, let bundleId else { return }
    let source = Source(environment: environment, bundleId: bundleId)
    guard known.contains(source) else { return }
    counts.withLock { $0[source, default: 0] += 1 }
  }

  /// What was counted since it was taken the last time.
  func take() -> [Source: Int64] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
  }

  /// Puts back what could not be stored.
  func restore(_ source: Source, _ count: Int64) { counts.withLock { $0[source, default: 0] += count } }
}
