import Synchronization

/// Remembers for each app whether the sandbox accepts its key. The sandbox is asked after production has refused the key.
///
/// Production answers 401 to every call about an app that was never released, even with the right key. The sandbox accepts the key of such
/// an app, so one call to the sandbox distinguishes it from an app with a wrong key. Which calls about purchases go to the sandbox is
/// decided elsewhere: `AppStoreServerAPIClient+EnvironmentFallback.swift`.
final class SandboxKeyProbes: Sendable {
  /// How long an answer is used. While production refuses the key, the sandbox answers only one call in this time.
  static let answerLifetime: Duration = .seconds(3600)
  /// How long the sandbox is not asked again if it did not answer.
  static let retryPause: Duration = .seconds(60)
  /// The time limit for the call to the sandbox, including its retries.
  static let timeout: Duration = .seconds(5)

  private struct Probe {
    /// The time until which the sandbox is not asked again.
    var end: ContinuousClock.Instant
    var isAccepted: Bool
  }

  private let probes = Mutex<[String: Probe]>([:])
  /// The apps of which production has accepted a key. Only configured apps have keys, so they are few.
  private let released = Mutex<Set<String>>([])

  /// Returns true if the sandbox accepted the key. Returns false if it refused the key, if it is being asked, or if it gave no answer less
  /// than ``retryPause`` ago. Returns nil if the caller must ask the sandbox now, and then call ``end(_:isAccepted:now:)``.
  func begin(_ bundleId: String, now: ContinuousClock.Instant = .now) -> Bool? {
    probes.withLock { probes -> Bool? in
      if let probe = probes[bundleId], now < probe.end { return probe.isAccepted }
      probes[bundleId] = Probe(end: now + Self.answerLifetime, isAccepted: false)
      return nil
    }
  }

  /// Records that production has accepted a key of the app. The app was released then, so if production refuses a key later, the reason is
  /// another one, and the sandbox need not be asked.
  func noteReleased(_ bundleId: String) {
    released.withLock { _ = $0.insert(bundleId) }
  }

  /// True if production has accepted a key of the app since the process began.
  func isReleased(_ bundleId: String) -> Bool { released.withLock { $0.contains(bundleId) } }

  /// Records the sandbox's answer. Nil means that there was none; the sandbox is then asked again after ``retryPause``.
  func end(_ bundleId: String, isAccepted: Bool?, now: ContinuousClock.Instant = .now) {
    probes.withLock { probes in
      if let isAccepted {
        probes[bundleId]?.isAccepted = isAccepted
      } else {
        probes[bundleId]?.end = now + Self.retryPause
      }
    }
  }
}
