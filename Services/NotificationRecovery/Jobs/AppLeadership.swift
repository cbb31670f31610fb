import AttributionQueue
import RedisClient

/// Elects one leader for each app among all instances, by a lease in Redis with a fencing token that only grows. Every write of a
/// recovery's progress compares the token in the same script, so an instance that lost the lease without noticing cannot write.
///
/// ``RecoveryLeader`` claims apps, and keeps their leases while it works their recoveries.
struct AppLeadership: Sendable {
  /// A period in which this instance leads an app, and its fencing token.
  struct Term: Sendable, Hashable {
    let bundleId: String
    let token: Int64
  }

  let redis: RedisClient
  /// How long a lease is valid without renewal.
  let lease: Duration

  private var leaseMilliseconds: Int64 { max(1, lease.milliseconds) }

  static func leaseKey(_ bundleId: String) -> String { Keys.own("recovery", "leader:\(bundleId)", shardOf: bundleId) }
  private static func fenceKey(_ bundleId: String) -> String { Keys.own("recovery", "fence:\(bundleId)", shardOf: bundleId) }

  private static let claim = RedisScript(name: "recovery_lead", source: PackageResources.leadership_claim_lua)
  private static let renew = RedisScript(name: "recovery_renew", source: PackageResources.leadership_renew_lua)

  /// Begins a term as the app's leader; nil if there is a leader.
  func claim(_ bundleId: String) async throws(RedisError) -> Term? {
    let reply = try await Self.claim.run(
      on: redis, keys: [Self.leaseKey(bundleId), Self.fenceKey(bundleId)], arguments: [.integer(leaseMilliseconds)])
    guard let token = reply.integer, token > 0 else { return nil }
    return Term(bundleId: bundleId, token: token)
  }

  /// Renews the lease. Returns false if the term is over.
  func renew(_ term: Term) async throws(RedisError) -> Bool {
    try await Self.renew.run(
      on: redis, keys: [Self.leaseKey(term.bundleId)], arguments: [.integer(term.token), .integer(leaseMilliseconds)]
    ).integer == 1
  }

  /// Ends the term, so that another instance can lead the app at once.
  func release(_ term: Term) async throws(RedisError) {
    _ = try await Self.renew.run(on: redis, keys: [Self.leaseKey(term.bundleId)], arguments: [.integer(term.token), 0])
  }

  /// Renews the lease until the term is over or the task is cancelled.
  func keep(_ term: Term) async {
    var lastRenewal = ContinuousClock.now
    while true {
      do { try await Task.sleep(for: lease / 3) } catch { return }
      let attemptedAt = ContinuousClock.now
      do throws(RedisError) {
        guard try await renew(term) else { return }
        lastRenewal = attemptedAt
      } catch {
        // Redis may become available again before the lease expires. After that, another instance may lead the app.
        guard ContinuousClock.now - lastRenewal < lease else { return }
      }
    }
  }
}
