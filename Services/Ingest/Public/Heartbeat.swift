import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Periodically writes this instance's heartbeat to Redis. After a time without any heartbeat, the first instance that writes one records
/// the outage, so that nothing has to run during an outage to detect it.
struct Heartbeat: Sendable {
  let journal: IntakeJournal
  /// This instance's name, which is new at each start.
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
