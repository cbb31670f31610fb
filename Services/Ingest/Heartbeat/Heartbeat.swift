import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Says in Redis, again and again, that this instance is alive. When no instance said so for too long, the first that is back records the
/// outage: nothing has to be running to notice it.
struct Heartbeat: Sendable {
  let journal: IntakeJournal
  /// This instance's name, made anew at each start.
  let instance: String
  let settings: RecoverySettings
  let logger: Logger

  /// Until its task is cancelled.
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
