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

/// A source for the list of the retention messages that Apple has approved.
protocol RetentionMessageSource: Sendable {
  func messages(of audience: RetentionAudience) async throws(RPCError) -> RetentionMessageList
}

/// The retention messages of each app that Apple has approved, so that they may be shown. The lists are updated in the background.
///
/// Apple limits the rate of the requests for a list. So in each period of `retention.messagesRefresh`, one instance has the list requested
/// from Apple and stores it in Redis, and the other instances read it there. The last known list stays in use until there is a newer one.
final class ApprovedMessages: Sendable {
  private struct KnownList {
    let list: RetentionMessageList
    /// When the list was received from Apple, by this instance or another.
    let updatedAt: ContinuousClock.Instant
  }

  /// The pause after a failed update.
  private static let retryPause: Duration = .seconds(2)
  /// The interval at which ``run()`` checks whether an update at once was requested.
  private static let requestCheckInterval: Duration = .milliseconds(200)
  /// The time for which Redis stores a list, seconds.
  private static let storedSeconds: Int64 = 30 * 86_400

  private let live: LiveRetention
  private let source: (any RetentionMessageSource)?
  private let redis: RedisClient
  private let logger: Logger
  private let known = Mutex<[RetentionAudience: KnownList]>([:])
  private let isRefreshRequested = Atomic(false)
  /// The audiences whose last request failed. Only the first failure in a row is logged as a warning.
  private let failing = Mutex<Set<RetentionAudience>>([])
  private let started = ContinuousClock.now

  init(live: LiveRetention, source: (any RetentionMessageSource)?, redis: RedisClient, logger: Logger) {
    self.live = live
    self.source = source
    self.redis = redis
    self.logger = logger
  }

  /// The approved messages of an app; nil if no list is known yet.
  func list(_ audience: RetentionAudience) -> RetentionMessageList? { known.withLock { $0[audience]?.list } }

  /// Requests an update at once, because the apps have changed.
  func refresh() { isRefreshRequested.store(true, ordering: .relaxed) }

  /// The age of the oldest list, seconds, by environment. A list that is not known yet counts from the start of this instance.
  var ages: [String: Double] {
    let audiences = live.audiences
    return known.withLock { known in
      var ages: [String: Double] = [:]
      for audience in audiences {
        let age = (known[audience]?.updatedAt ?? started).duration(to: .now) / .seconds(1)
        ages[audience.environment] = max(ages[audience.environment] ?? 0, age)
      }
      return ages
    }
  }

  /// Updates the lists until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      // The lists are updated concurrently, so that a call that hangs does not delay other apps.
      let isComplete = await withTaskGroup(of: Bool.self) { group in
        for audience in live.audiences { group.addTask { await self.refresh(audience) } }
        return await group.reduce(true) { $0 && $1 }
      }
      let pause = isComplete ? live.settings.messagesRefresh : min(Self.retryPause, live.settings.messagesRefresh)
      let end = ContinuousClock.now + pause
      while !isRefreshRequested.exchange(false, ordering: .relaxed) {
        let remaining = ContinuousClock.now.duration(to: end)
        guard remaining > .zero else { break }
        do { try await Task.sleep(for: min(remaining, Self.requestCheckInterval)) } catch { return }
      }
    }
  }

  /// Updates the list of an app: requests it if no instance has requested it in this period, otherwise reads the stored one. Returns false
  /// if the next attempt must be made soon.
  private func refresh(_ audience: RetentionAudience) async -> Bool {
    guard let source else {
      await readStored(audience)
      return true
    }
    let refresh = live.settings.messagesRefresh
    // The first instance that sets this key requests the list. The key expires at the end of the period.
    let turn = RedisArgument.string(Self.key(audience) + ":turn")
    let reply = try? await redis.send(["SET", turn, "1", "NX", "PX", .integer(refresh.milliseconds)])
    // Without a reply of Redis, each instance requests the list itself.
    guard let reply, reply.isNull else {
      if await request(source, audience) { return true }
      _ = try? await redis.send(["PEXPIRE", turn, .integer(min(Self.retryPause, refresh).milliseconds)])
      return false
    }
    await readStored(audience)
    return list(audience) != nil
  }

  /// Requests the list and stores it in Redis. Returns false if the request failed.
  private func request(_ source: any RetentionMessageSource, _ audience: RetentionAudience) async -> Bool {
    do throws(RPCError) {
      let list = try await source.messages(of: audience)
      known.withLock { $0[audience] = KnownList(list: list, updatedAt: .now) }
      _ = failing.withLock { $0.remove(audience) }
      let texts = JSONValue.array(list.texts.map { .string($0) }).serialized
      _ = try? await redis.send(["SET", .string(Self.key(audience)), .bytes(texts), "EX", .integer(Self.storedSeconds)])
      return true
    } catch {
      let isNew = failing.withLock { $0.insert(audience).inserted }
      logger.log(
        level: isNew ? .warning : .debug,
        "the approved retention messages cannot be updated; the last known ones stay in use",
        metadata: ["app": "\(audience.bundleId)", "environment": "\(audience.environment)", "reason": "\(error.code.rawValue)"])
      await readStored(audience)
      return false
    }
  }

  /// Reads the list that an instance has stored in Redis, unless this instance knows a newer one.
  private func readStored(_ audience: RetentionAudience) async {
    let key = RedisArgument.string(Self.key(audience))
    // The remaining lifetime of the key shows when the list was stored. It is read before the list, so that the list is never older than
    // the computed time.
    guard let remaining = try? await redis.send(["PTTL", key]).integer, remaining > 0,
      let bytes = try? await redis.send(["GET", key]).bytes,
      let texts = try? JSONValue(parsing: bytes, limits: .ownDocuments).arrayValue
    else { return }
    let storedAt = ContinuousClock.now - .milliseconds(Self.storedSeconds * 1000 - remaining)
    known.withLock { known in
      if let found = known[audience], found.updatedAt >= storedAt { return }
      known[audience] = KnownList(list: RetentionMessageList(texts: texts.compactMap(\.stringValue)), updatedAt: storedAt)
    }
  }

  private static func key(_ audience: RetentionAudience) -> String {
    Keys.own("ingest", "retention:messages:\(audience.environment):\(audience.bundleId)", shardOf: audience.bundleId)
  }
}
