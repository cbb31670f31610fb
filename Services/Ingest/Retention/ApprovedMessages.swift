import AttributionClient
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import RedisClient
import ServiceRuntime
import Synchronization
import WireJSON

/// Says which retention messages Apple has approved.
protocol RetentionMessageSource: Sendable {
  /// Identifiers in lower case.
  func approvedMessages(of audience: RetentionAudience) async throws(RPCError) -> Set<String>
}

/// Which messages of each app may be shown, asked for in the background. One instance asks Apple for an app within each
/// `retention.messagesRefresh`; the others read in Redis what it heard, because Apple limits how often it may be asked. What was last heard
/// holds while nobody can be asked.
final class ApprovedMessages: Sendable {
  private struct Known {
    let identifiers: Set<String>
    let at: ContinuousClock.Instant
  }

  /// How soon it is asked again where it could not be heard.
  private static let pause: Duration = .seconds(2)
  /// How soon it is noticed that it is to be asked at once.
  private static let requestCheckInterval: Duration = .milliseconds(200)
  /// How long Redis knows what was last heard, seconds.
  private static let keptSeconds: Int64 = 30 * 86_400

  private let live: LiveRetention
  private let source: (any RetentionMessageSource)?
  private let redis: RedisClient
  private let logger: Logger
  private let known = Mutex<[RetentionAudience: Known]>([:])
  private let isWanted = Atomic(false)
  /// Those whose failure was told.
  private let failing = Mutex<Set<RetentionAudience>>([])
  private let started = ContinuousClock.now

  init(live: LiveRetention, source: (any RetentionMessageSource)?, redis: RedisClient, logger: Logger) {
    self.live = live
    self.source = source
    self.redis = redis
    self.logger = logger
  }

  /// The messages of an app that may be shown; nil while that was never heard.
  func approved(_ audience: RetentionAudience) -> Set<String>? { known.withLock { $0[audience]?.identifiers } }

  /// Asks now: the apps have changed.
  func refresh() { isWanted.store(true, ordering: .relaxed) }

  /// By environment, how long ago it was heard, seconds, of the app where that is longest.
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

  /// Until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      // Side by side, since one app whose calls hang must not hold up the others.
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

  /// Asks, or reads what the instance heard whose turn it is. False if it is to be tried again soon.
  private func refresh(_ audience: RetentionAudience) async -> Bool {
    guard let source else {
      await readBack(audience)
      return true
    }
    let refresh = live.settings.messagesRefresh
    let turn = RedisArgument.string(Self.key(audience) + ":turn")
    let taken = try? await redis.send(["SET", turn, "1", "NX", "PX", .integer(refresh.milliseconds)])
    // Without Redis each instance asks for itself.
    guard let taken, taken.isNull else {
      if await ask(source, audience) { return true }
      _ = try? await redis.send(["PEXPIRE", turn, .integer(min(Self.pause, refresh).milliseconds)])
      return false
    }
    await readBack(audience)
    return approved(audience) != nil
  }

  private func ask(_ source: any RetentionMessageSource, _ audience: RetentionAudience) async -> Bool {
    do throws(RPCError) {
      let identifiers = try await source.approvedMessages(of: audience)
      known.withLock { $0[audience] = Known(identifiers: identifiers, at: .now) }
      _ = failing.withLock { $0.remove(audience) }
      let list = JSONValue.array(identifiers.sorted().map { .string($0) }).serialized
      _ = try? await redis.send(["SET", .string(Self.key(audience)), .bytes(list), "EX", .integer(Self.keptSeconds)])
      return true
    } catch {
      let isNew = failing.withLock { $0.insert(audience).inserted }
      logger.log(
        level: isNew ? .warning : .debug,
        "it was not heard which retention messages are approved; what was last heard holds",
        metadata: ["app": "\(audience.bundleId)", "environment": "\(audience.environment)", "reason": "\(error.code.rawValue)"])
      await readBack(audience)
      return false
    }
  }

  /// Reads what another instance, or this one before it was started anew, heard, unless this one has heard something later.
  private func readBack(_ audience: RetentionAudience) async {
    let key = RedisArgument.string(Self.key(audience))
    // When it was heard is told by the time that it is still kept. That is read first: the list may be newer than it says, and not older.
    guard let left = try? await redis.send(["PTTL", key]).integer, left > 0, let bytes = try? await redis.send(["GET", key]).bytes,
      let list = try? JSONValue(parsing: bytes, limits: .ownDocuments).arrayValue
    else { return }
    let heard = ContinuousClock.now - .milliseconds(Self.keptSeconds * 1000 - left)
    known.withLock { known in
      if let found = known[audience], found.at >= heard { return }
      known[audience] = Known(identifiers: Set(list.compactMap(\.stringValue)), at: heard)
    }
  }

  private static func key(_ audience: RetentionAudience) -> String {
    Keys.own("ingest", "retention:messages:\(audience.environment):\(audience.bundleId)", shardOf: audience.bundleId)
  }
}
