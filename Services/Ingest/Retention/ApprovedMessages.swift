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

/// Which messages of each app may be shown, asked for in the background. What was last heard holds while nobody can be asked; it is kept in
/// Redis too, for an instance that has just started.
final class ApprovedMessages: Sendable {
  private struct Known {
    let identifiers: Set<String>
    let at: ContinuousClock.Instant
  }

  /// How soon it is asked again where it could not be heard.
  private static let pause: Duration = .seconds(2)
  /// How soon it is noticed that it is to be asked at once.
  private static let look: Duration = .milliseconds(200)
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
      var isComplete = true
      for audience in live.audiences where await !ask(audience) { isComplete = false }
      let pause = isComplete ? live.settings.messagesRefresh : min(Self.pause, live.settings.messagesRefresh)
      let end = ContinuousClock.now + pause
      while !isWanted.exchange(false, ordering: .relaxed) {
        let left = ContinuousClock.now.duration(to: end)
        guard left > .zero else { break }
        do { try await Task.sleep(for: min(left, Self.look)) } catch { return }
      }
    }
  }

  private func ask(_ audience: RetentionAudience) async -> Bool {
    guard let source else {
      await readBack(audience)
      return true
    }
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

  /// What another instance, or this one before it was started anew, heard.
  private func readBack(_ audience: RetentionAudience) async {
    guard approved(audience) == nil, let bytes = try? await redis.send(["GET", .string(Self.key(audience))]).bytes,
      let list = try? JSONValue(parsing: bytes, limits: .ownDocuments).arrayValue
    else { return }
    known.withLock { known in
      if known[audience] == nil { known[audience] = Known(identifiers: Set(list.compactMap(\.stringValue)), at: started) }
    }
  }

  private static func key(_ audience: RetentionAudience) -> String {
    Keys.own("ingest", "retention:messages:\(audience.environment):\(audience.bundleId)", shardOf: audience.bundleId)
  }
}
