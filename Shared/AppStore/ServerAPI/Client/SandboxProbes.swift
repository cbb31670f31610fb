import Synchronization

/// What the sandbox answered about an app's key after production had refused it.
///
/// Production answers 401 to every call about an app that was never released, with the right key too. The sandbox accepts the key, so one
/// call to it separates this from a wrong key.
final class SandboxProbes: Sendable {
  /// How long an answer is used, so that a refused key costs one answered call in this time.
  static let answerLifetime: Duration = .seconds(3600)
  /// The pause before the sandbox is asked again if it did not answer.
  static let retryPause: Duration = .seconds(60)
  /// The timeout of the call with its retries.
  static let timeout: Duration = .seconds(5)

  private struct Probe {
    var end: ContinuousClock.Instant
    var isAccepted: Bool
  }

  private let probes = Mutex<[String: Probe]>([:])

  /// True if the sandbox accepted the key; false if it refused the key, gave no answer less than ``retryPause`` ago, or is being asked.
  /// Nil: the caller must ask the sandbox and call ``end(_:isAccepted:now:)``.
  func begin(_ bundleId: String, now: ContinuousClock.Instant = .now) -> Bool? {
    probes.withLock { probes -> Bool? in
      if let probe = probes[bundleId], now < probe.end { return probe.isAccepted }
      probes[bundleId] = Probe(end: now + Self.answerLifetime, isAccepted: false)
      return nil
    }
  }

  /// Forgets the sandbox's answer, because production has accepted the app's key. So the app was released: if production refuses a key
  /// later, the reason is another one.
  func forget(_ bundleId: String) {
    probes.withLock { _ = $0.removeValue(forKey: bundleId) }
  }

  /// Records the sandbox's answer; nil if there was none, so that it is asked again after ``retryPause``.
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
