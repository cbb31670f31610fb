import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Periodically writes this instance's heartbeat to Redis. If no instance has written one for `recovery.outageAfter`, the next instance
/// that writes one records the outage; so nothing has to run during an outage to detect it. notification-recovery reads the recorded
/// outages.
struct Heartbeat: Sendable {
  let journal: IntakeJournal
  /// The name of this instance, which is new at each start.
  let instance: String
  let settings: RecoverySettings
  let logger: Logger

  /// Writes heartbeats until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await beat()
      do { try await Task.sleep(for: settings.heartbeat) } catch { return }
    }
  }

  private func beat() async {
    do throws(RedisError) {
      let outage = try await journal.beat(instance, outageAfter: settings.outageAfter)
      if let outage {
        logger.warning(
          "no instance of ingest was alive", metadata: ["from": "\(outage.start)", "until": "\(outage.end)"])
      }
    } catch {
      logger.debug("the heartbeat cannot be stored", metadata: ["reason": "\(error)"])
    }
  }
}
