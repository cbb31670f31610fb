import AppStore
import AttributionClient
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import RedisClient
import ServiceRuntime
import Synchronization
import WireJSON

/// Lists the retention messages that Apple has approved.
protocol RetentionMessageSource: Sendable {
  func messages(of audience: RetentionAudience) async throws(RPCError) -> RetentionMessageList
}

/// The retention messages of each app that may be shown, updated in the background. One instance asks Apple for an app's list once per
/// `retention.messagesRefresh`, because Apple limits the rate of these requests; the others read the list that it stored in Redis. The last
/// known list stays in use as long as no newer one is available.
final class ApprovedMessages: Sendable {
  private struct Known {
    let list: RetentionMessageList
    let at: ContinuousClock.Instant
  }

  /// The pause after a failed update.
  private static let pause: Duration = .seconds(2)
  /// The interval at which `run` checks for a request to update at once.
  private static let requestCheckInterval: Duration = .milliseconds(200)
  /// How long Redis stores a list, seconds.
  private static let keptSeconds: Int64 = 30 * 86_400

  private let live: LiveRetention
  private let source: (any RetentionMessageSource)?
  private let redis: RedisClient
  private let logger: Logger
  private let known = Mutex<[RetentionAudience: Known]>([:])
  private let isWanted = Atomic(false)
  /// The audiences whose last request failed. Only the first failure in a row is logged as a warning.
  private let failing = Mutex<Set<RetentionAudience>>([])
  private let started = ContinuousClock.now

  init(live: LiveRetention, source: (any RetentionMessageSource)?, redis: RedisClient, logger: Logger) {
    self.live = live
    self.source = source
    self.redis = redis
    self.logger = logger
  }

  /// The messages of an app that may be shown; nil if no list is known yet.
  func list(_ audience: RetentionAudience) -> RetentionMessageList? { known.withLock { $0[audience]?.list } }

  /// Requests an update at once, because the apps have changed.
  func refresh() { isWanted.store(true, ordering: .relaxed) }

  /// The age of the oldest app's list, seconds, by environment.
  var ages: [String: Double] {
    let audiences = live.audiences
    return known.withLock { known in
      var ages: [String: Double] = [:]
      for audience in audiences {
        let age = (known[audience]?.at ?? started).duration(to: .now) / .seconds(1)
        ages[audience.environment] = max(ages[audience.environment] ?? 0, age)
      }
      return ages
    }
  }

  /// Updates the lists until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      // Concurrently, so that one app whose calls hang does not block the others.
      let isComplete = await withTaskGroup(of: Bool.self) { group in
        for audience in live.audiences { group.addTask { await self.refresh(audience) } }
        return await group.reduce(true) { $0 && $1 }
      }
      let pause = isComplete ? live.settings.messagesRefresh : min(Self.pause, live.settings.messagesRefresh)
      let end = ContinuousClock.now + pause
      while !isWanted.exchange(false, ordering: .relaxed) {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { break }
        do { try await Task.sleep(for: min(left, Self.requestCheckInterval)) } catch { return }
      }
    }
  }

  /// Asks Apple, or reads the list of the instance that asked within this interval. False if the next attempt must come soon.
  private func refresh(_ audience: RetentionAudience) async -> Bool {
    guard let source else {
      await readBack(audience)
      return true
    }
    let refresh = live.settings.messagesRefresh
    let turn = RedisArgument.string(Self.key(audience) + ":turn")
    let taken = try? await redis.send(["SET", turn, "1", "NX", "PX", .integer(refresh.milliseconds)])
    // Without Redis, each instance asks Apple itself.
    guard let taken, taken.isNull else {
      if await ask(source, audience) { return true }
      _ = try? await redis.send(["PEXPIRE", turn, .integer(min(Self.pause, refresh).milliseconds)])
      return false
    }
    await readBack(audience)
    return list(audience) != nil
  }

  private func ask(_ source: any RetentionMessageSource, _ audience: RetentionAudience) async -> Bool {
    do throws(RPCError) {
      let list = try await source.messages(of: audience)
      known.withLock { $0[audience] = Known(list: list, at: .now) }
      _ = failing.withLock { $0.remove(audience) }
      let texts = JSONValue.array(list.texts.map { .string($0) }).serialized
      _ = try? await redis.send(["SET", .string(Self.key(audience)), .bytes(texts), "EX", .integer(Self.keptSeconds)])
      return true
    } catch {
      let isNew = failing.withLock { $0.insert(audience).inserted }
      logger.log(
        level: isNew ? .warning : .debug,
        "the approved retention messages cannot be updated; the last known ones stay in use",
        metadata: ["app": "\(audience.bundleId)", "environment": "\(audience.environment)", "reason": "\(error.code.rawValue)"])
      await readBack(audience)
      return false
    }
  }

  /// Reads the list that another instance, or this one before its restart, stored in Redis, unless this instance has a newer one.
  private func readBack(_ audience: RetentionAudience) async {
    let key = RedisArgument.string(Self.key(audience))
    // The remaining lifetime of the key shows when the list was stored. It is read before the list: the list may then be newer than the
    // computed time, but never older.
    guard let left = try? await redis.send(["PTTL", key]).integer, left > 0, let bytes = try? await redis.send(["GET", key]).bytes,
      let texts = try? JSONValue(parsing: bytes, limits: .ownDocuments).arrayValue
    else { return }
    let heard = ContinuousClock.now - .milliseconds(Self.keptSeconds * 1000 - left)
    known.withLock { known in
      if let found = known[audience], found.at >= heard { return }
      known[audience] = Known(list: RetentionMessageList(texts: texts.compactMap(\.stringValue)), at: heard)
    }
  }

  private static func key(_ audience: RetentionAudience) -> String {
    Keys.own("ingest", "retention:messages:\(audience.environment):\(audience.bundleId)", shardOf: audience.bundleId)
  }
}
