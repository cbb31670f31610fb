import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Says in Redis, again and again, that this instance is alive, and how many notifications of which app came. When no instance said so
/// for too long, the first that is back records the outage: nothing has to be running to notice it.
struct Heartbeat: Sendable {
  let journal: IntakeJournal
  let arrivals: ArrivalCounter
  /// This instance's name, made anew at each start.
  let instance: String
  let settings: RecoverySettings
  let logger: Logger

  /// Until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await beat()
      do { try await Task.sleep(for: settings.heartbeat) } catch { break }
    }
    // An orderly end is no silence of the counts; the next instance's start tells whether there was an outage.
    await note()
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
    await note()
  }

  private func note() async {
    for (source, count) in arrivals.take() {
      do throws(RedisError) {
        try await journal.note(
          environment: source.environment, bundleId: source.bundleId, count: count, silenceAfter: settings.silenceAfter)
      } catch {
        arrivals.restore(source, count)
      }
    }
  }
}
