import AttributionQueue
import RedisClient

/// Elects one leader per app among all instances: a lease in Redis with a fencing token that only grows. Every write of a recovery's
/// progress compares the token in the same script, so an instance that lost the lease without noticing cannot write.
struct AppLeadership: Sendable {
  /// An app that this instance leads, and its fencing token.
  struct Term: Sendable, Hashable {
    let bundleId: String
    let token: Int64
  }

  let redis: RedisClient
  /// How long a lease lasts without renewal.
  let lease: Duration

  private var leaseMilliseconds: Int64 { max(1, lease.milliseconds) }

  static func leaseKey(_ bundleId: String) -> String { Keys.own("recovery", "leader:\(bundleId)", shardOf: bundleId) }
  private static func fenceKey(_ bundleId: String) -> String { Keys.own("recovery", "fence:\(bundleId)", shardOf: bundleId) }

  // KEYS 1 lease  2 fence. ARGV 1 lease, ms. Returns the new term's token, or 0 if there is a leader.
  private static let claim = RedisScript(
    name: "recovery_lead",
    source: """
      if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
      local token = redis.call('INCR', KEYS[2])
      redis.call('SET', KEYS[1], token, 'PX', ARGV[1])
      return token
      """)
  // KEYS 1 lease. ARGV 1 token  2 lease, ms; 0 releases it. Returns 1, or 0 if the term is over.
  private static let renew = RedisScript(
    name: "recovery_renew",
    source: """
      if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
      if tonumber(ARGV[2]) > 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) else redis.call('DEL', KEYS[1]) end
      return 1
      """)

  /// Nil if another instance leads the app.
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

  func release(_ term: Term) async throws(RedisError) {
    _ = try await Self.renew.run(on: redis, keys: [Self.leaseKey(term.bundleId)], arguments: [.integer(term.token), 0])
  }

  /// Renews the lease until the term is over or the task is cancelled.
  func keep(_ term: Term) async {
    var lastRenewal = ContinuousClock.now
    while true {
      do { try await Task.sleep(for: lease / 3) } catch { return }
      let asked = ContinuousClock.now
      do throws(RedisError) {
        guard try await renew(term) else { return }
        lastRenewal = asked
      } catch {
        // Redis may come back before the lease expires; after that another instance may lead.
        guard ContinuousClock.now - lastRenewal < lease else { return }
      }
    }
  }
}
