import RedisClient

/// The Lua scripts of `Scripts/`, one per file. Each file begins with its keys, arguments and result. Some files are prefixes with
/// functions that several scripts share:
/// - `form`: whether a message enters its order line now
/// - `payload`: moving a delayed message to the ready stream
/// - `line`: removing a message from its order line
/// - `filter`: filtering events
/// - `rejected`: storing and removing bodies of rejected deliveries
/// - `keep`: storing a value with an accept
enum Scripts {
  static let open = script("open", PackageResources.open_lua)
  static let accept = script("accept", PackageResources.form_lua + PackageResources.accept_lua)
  static let acceptKeeping = script("accept_keeping", PackageResources.keep_lua + PackageResources.form_lua + PackageResources.accept_lua)
  static let confirm = script("confirm", PackageResources.confirm_lua)
  static let commit = finishing("commit", PackageResources.rejected_lua + PackageResources.commit_lua)
  static let commitPlain = needed("commit_plain", PackageResources.commit_plain_lua)
  static let own = needed("own", PackageResources.form_lua + PackageResources.own_lua)
  static let disown = needed("disown", PackageResources.disown_lua)
  static let beat = needed("beat", PackageResources.beat_lua)
  static let suspect = needed("suspect", PackageResources.suspect_lua)
  static let promote = script("promote", PackageResources.payload_lua + PackageResources.promote_lua)
  static let forget = script("forget", PackageResources.forget_lua)
  static let take = script("take", PackageResources.payload_lua + PackageResources.take_lua)
  static let expedite = script("expedite", PackageResources.expedite_lua)
  static let ready = script("ready", PackageResources.payload_lua + PackageResources.ready_lua)
  static let schedule = needed("schedule", PackageResources.schedule_lua)
  static let due = script("due", PackageResources.due_lua)
  static let renew = script("renew", PackageResources.renew_lua)
  static let keepOwn = script("keep_own", PackageResources.keep_own_lua)
  static let reclaim = script("reclaim", PackageResources.reclaim_lua)
  static let replay = script("replay", PackageResources.form_lua + PackageResources.replay_lua)
  static let prune = script("prune", PackageResources.prune_lua)
  static let findRejected = reading("find_rejected", PackageResources.rejected_lua + PackageResources.find_rejected_lua)
  static let reverify = script(
    "reverify",
    PackageResources.form_lua + PackageResources.payload_lua + PackageResources.rejected_lua + PackageResources.reverify_lua)
  static let expireRejected = needed("expire_rejected", PackageResources.rejected_lua + PackageResources.expire_rejected_lua)
  static let pull = script("pull", PackageResources.filter_lua + PackageResources.pull_lua)
  static let modifyLease = script("modify_lease", PackageResources.modify_lease_lua)
  static let seek = script("seek", PackageResources.seek_lua)
  static let delete = needed("delete", PackageResources.delete_lua)
  static let clear = needed("clear", PackageResources.clear_lua)
  static let health = script("health", PackageResources.health_lua)
  static let swap = script("swap", PackageResources.swap_lua)
  static let advance = needed("advance", PackageResources.advance_lua)
  static let drop = needed("drop", PackageResources.filter_lua + PackageResources.drop_lua)
  static let publish = script("publish", PackageResources.publish_lua)
  static let list = needed("list", PackageResources.list_lua)
  static let count = reading("count", PackageResources.count_lua)
  static let backlog = reading("backlog", PackageResources.backlog_lua)
  static let tail = reading("tail", PackageResources.tail_lua)
  static let pushBeat = script("push_beat", PackageResources.push_beat_lua)
  static let snapshot = script("snapshot", PackageResources.snapshot_lua)
  static let trim = needed("trim", PackageResources.trim_lua)
  static let rpcClaim = script("rpc_claim", PackageResources.rpc_claim_lua)
  static let rpcFinish = script("rpc_finish", PackageResources.rpc_finish_lua)
  static let rpcRenew = script("rpc_renew", PackageResources.rpc_renew_lua)
  static let heartbeat = script("heartbeat", PackageResources.heartbeat_lua)
  static let commerceNotificationAdd = script("commerce_notification_add", PackageResources.commerce_notification_add_lua)
  static let arrivals = script("arrivals", PackageResources.arrivals_lua)
  static let facts = reading("facts", PackageResources.facts_lua)
  static let eventFacts = reading("event_facts", PackageResources.event_facts_lua)
  static let repair = finishing("repair", PackageResources.repair_lua)

  /// A script that may remove a message from its order line.
  private static func finishing(_ name: String, _ source: [UInt8]) -> RedisScript {
    needed(name, PackageResources.payload_lua + PackageResources.line_lua + source)
  }

  /// A script that is needed to drain the queues and the feed. It may run when Redis has reached its memory limit: otherwise nothing could
  /// be drained, and Redis would stay full.
  private static func needed(_ name: String, _ source: [UInt8]) -> RedisScript {
    script(name, Array("#!lua flags=allow-oom\n".utf8) + source)
  }

  /// A script that must not write, and that replicas may run too.
  private static func reading(_ name: String, _ source: [UInt8]) -> RedisScript {
    script(name, Array("#!lua flags=no-writes\n".utf8) + source)
  }

  private static func script(_ name: String, _ source: [UInt8]) -> RedisScript {
    RedisScript(name: name, source: source)
  }
}

extension RedisScript {
  /// Runs the script. Its keys must share one hash tag, and so one slot of a Redis Cluster.
  func run(_ client: RedisClient, _ keys: [String], _ arguments: [RedisArgument], timeout: Duration? = nil)
    async throws(RedisError)
    -> RedisReply
  {
    assert(Set(keys.map(Keys.hashTag(of:))).count == 1, "script \(name): its keys lie in different slots")
    return try await run(on: client, keys: keys, arguments: arguments, timeout: timeout)
  }

  /// Runs the script with encoded arguments.
  func run(_ client: RedisClient, _ keys: EncodedArguments, _ arguments: EncodedArguments) async throws(RedisError) -> RedisReply {
    assert(
      Set(keys.decoded.map { Keys.hashTag(of: String(decoding: $0, as: UTF8.self)) }).count == 1,
      "script \(name): its keys lie in different slots")
    return try await run(on: client, keys: keys, arguments: arguments)
  }
}
