public import Logging
import NIOConcurrencyHelpers

/// A Redis client. Concurrent callers share a few connections and their commands are pipelined, which lets Redis answer a whole batch after
/// one fsync. It fails fast while Redis is unavailable, and reconnects by itself.
///
/// The URL names one node, the primary that Sentinels name, or a Redis Cluster, where each command goes to the node of its key.
/// Redirections are followed. A command that was refused because a slot moves or a replica takes over is sent again for up to
/// ``Configuration/patience``. A command that may have been executed is never sent twice.
public final class RedisClient: Sendable {
  public struct Configuration: Sendable {
    /// The greatest number of shared connections to a node; nil for four for each event loop.
    public var connections: Int?
    /// The number of the event loop of the first connection.
    var firstLoop = 0
    public var connectTimeout: Duration = .seconds(2)
    /// The timeout of one command.
    public var commandTimeout: Duration = .seconds(5)
    /// How long a command that was not executed is retried while slots move or a replica takes over.
    public var patience: Duration = .seconds(2)
    /// The greatest number of elements of one reply, including nested ones.
    public var maxReplyElements = 1_000_000
    /// The replication that each batch of commands must reach; nil if the primary's reply is enough.
    public var replication: RedisReplication?
    /// Is called for every command.
    public var observer: (any RedisObserver)?
    /// Is called for messages, if the client subscribes to channels (`SSUBSCRIBE`).
    public var subscription: RedisSubscription?
    /// The files for `rediss://`.
    public var tls = RedisTLSFiles()
    /// A file whose first line is the password, instead of one in the URL. It is read for each new connection.
    public var passwordFile: String?
    /// The user at Sentinels, and the file whose first line is the password there; nil: no login.
    public var sentinelUser: String?
    public var sentinelPasswordFile: String?
    /// True if a connection to a replica is refused.
    var wantsPrimary = false

    public init() {}
  }

  private enum Target {
    case node(RedisConnectionPool)
    case topology(RedisTopology, NodePools)
  }

  public let url: RedisURL
  private let configuration: Configuration
  private let logger: Logger
  private let addresses: HostAddresses
  private let target: Target

  /// True if the keys of one command must be in one hash slot.
  public var isCluster: Bool { if case .cluster = url.deployment { true } else { false } }

  public convenience init(url: RedisURL, configuration: Configuration = Configuration(), logger: Logger) {
    self.init(url: url, configuration: configuration, addresses: HostAddresses(), topology: nil, logger: logger)
  }

  /// - Parameter topology: the topology of another client of the same URL, which is then shared.
  init(
    url: RedisURL, configuration given: Configuration, addresses: HostAddresses, topology known: RedisTopology? = nil, logger: Logger
  ) {
    var configuration = given
    configuration.wantsPrimary = if case .sentinel = url.deployment { true } else { false }
    self.url = url
    self.configuration = configuration
    self.addresses = addresses
    self.logger = logger
    let pool: @Sendable (RedisURL) -> RedisConnectionPool = { [configuration] in
      RedisConnectionPool(url: $0, configuration: configuration, addresses: addresses, logger: logger)
    }
    guard let topology = known ?? Self.topology(of: url, configuration, addresses, logger) else {
      target = .node(pool(url))
      return
    }
    let pools = NodePools { pool(url.of($0)) }
    topology.whenChanged { [weak pools] in pools?.keep($0) }
    target = .topology(topology, pools)
  }

  /// Nil for a single node.
  private static func topology(
    of url: RedisURL, _ given: Configuration, _ addresses: HostAddresses, _ logger: Logger
  ) -> RedisTopology? {
    let discovery: any TopologyDiscovery
    var configuration = given
    var login = url
    switch url.deployment {
    case .single: return nil
    case .cluster: discovery = ClusterDiscovery(seeds: url.nodes)
    case .sentinel(let name):
      discovery = SentinelDiscovery(sentinels: url.nodes, name: name)
      configuration.passwordFile = given.sentinelPasswordFile
      login = url.loggingIn(given.sentinelUser)
    }
    // Short timeouts, because a node that does not answer can be left out if the others agree.
    configuration.connectTimeout = min(given.connectTimeout, .milliseconds(500))
    configuration.commandTimeout = min(given.commandTimeout, .milliseconds(500))
    (configuration.connections, configuration.replication, configuration.subscription) = (1, nil, nil)
    configuration.wantsPrimary = false
    let pools = NodePools { [configuration, login] in
      RedisConnectionPool(url: login.of($0), configuration: configuration, addresses: addresses, logger: logger)
    }
    return RedisTopology(discovery, seeds: url.nodes, pools: pools, logger: logger)
  }

  private func derived(_ adjust: (inout Configuration) -> Void) -> RedisClient {
    var configuration = configuration
    adjust(&configuration)
    var topology: RedisTopology?
    if case .topology(let known, _) = target { topology = known }
    return RedisClient(url: url, configuration: configuration, addresses: addresses, topology: topology, logger: logger)
  }

  /// A separate client for blocking reads, so that they do not delay other commands. `loop`: the number of the event loop of its
  /// connection, modulo the number of loops.
  public func dedicated(commandTimeout: Duration, loop: Int = 0) -> RedisClient {
    derived {
      $0.firstLoop = loop
      $0.connections = 1
      $0.commandTimeout = commandTimeout
    }
  }

  /// A separate client for subscriptions, because a subscribed connection accepts few other commands.
  public func subscriber(loop: Int, _ subscription: RedisSubscription) -> RedisClient {
    derived {
      $0.firstLoop = loop
      $0.connections = 1
      $0.subscription = subscription
    }
  }

  /// A separate client whose commands return when the replicas confirmed them. It has its own connection, because `WAIT` blocks the
  /// connection.
  public func replicated(_ replication: RedisReplication) -> RedisClient {
    derived {
      $0.replication = replication
      $0.commandTimeout += replication.timeout
    }
  }

  /// True if a connection is open.
  public var isConnected: Bool {
    switch target {
    case .node(let pool): pool.isConnected
    case .topology(_, let pools): pools.isConnected
    }
  }

  /// Sends one command. Throws for an error reply too; see ``sendAllowingErrors(_:timeout:)``.
  @discardableResult
  public func send(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(arguments, timeout: timeout, name: name))
  }

  /// Sends one encoded command. Throws for an error reply too. `name`: the command's name in metrics.
  @discardableResult
  public func send(_ words: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(words, timeout: timeout, name: name))
  }

  static func accepted(_ reply: RedisReply) throws(RedisError) -> RedisReply {
    if let text = reply.error { throw .refused(text) }
    return reply
  }

  /// Sends one command. Returns any reply, including an error reply.
  ///
  /// `name`: the command's name in metrics, if its first argument is not enough.
  public func sendAllowingErrors(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil)
    async throws(RedisError) -> RedisReply
  {
    try await sendAllowingErrors(EncodedArguments(arguments), timeout: timeout, name: name ?? arguments.first?.text ?? "")
  }

  /// Sends one encoded command. Returns any reply, including an error reply.
  public func sendAllowingErrors(_ words: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    switch target {
    case .node(let pool): try await pool.send(words, timeout: timeout, name: name)
    case .topology(let topology, let pools): try await route(words, topology, pools, timeout: timeout, name: name)
    }
  }

  /// The known primaries, for ``send(_:to:)``; one nil element for a single node.
  public func primaries() async throws(RedisError) -> [NodeAddress?] {
    switch target {
    case .node: return [nil]
    case .topology(let topology, _): return try await topology.primaries()
    }
  }

  /// Sends a command without a key to one of ``primaries()``.
  public func send(_ arguments: [RedisArgument], to node: NodeAddress?) async throws(RedisError) -> RedisReply {
    guard case .topology(_, let pools) = target, let node else { return try await send(arguments) }
    return try Self.accepted(await pools[node].send(EncodedArguments(arguments), name: arguments.first?.text ?? ""))
  }

  /// Sends a command without a key to every primary. Returns each node's name and reply. The name is nil for a single node.
  public func sendToEachPrimary(_ arguments: [RedisArgument]) async throws(RedisError) -> [(node: NodeAddress?, reply: RedisReply)] {
    let name = arguments.first?.text ?? ""
    var replies: [(node: NodeAddress?, reply: RedisReply)] = []
    for node in try await primaries() {
      guard case .topology(_, let pools) = target, let node else { return [(nil, try await sendAllowingErrors(arguments))] }
      replies.append((node, try await pools[node].send(EncodedArguments(arguments), name: name)))
    }
    return replies
  }

  /// A connection of this client to its single node, or to the primary that Sentinels name. Everything sent over the session uses that
  /// connection or fails, as `WATCH` requires.
  ///
  /// Use a ``dedicated(commandTimeout:loop:)`` client, because a transaction ends the watches of other users of its connection. Nil for a
  /// cluster, where the key decides which node gets a command.
  public func session() async throws(RedisError) -> RedisSession? {
    let pool: RedisConnectionPool
    switch target {
    case .node(let one): pool = one
    case .topology(let topology, let pools):
      guard case .sentinel = url.deployment else { return nil }
      guard let primary = try await topology.node(for: nil) else { throw .unavailable("no primary is known") }
      pool = pools[primary]
    }
    return RedisSession(pool: pool, connection: try await pool.connection())
  }

  /// Closes all connections; later commands fail.
  public func close() {
    switch target {
    case .node(let pool): pool.close()
    case .topology(_, let pools): pools.close()
    }
  }

  /// Sends a command to the node of its key, and follows redirections.
  private func route(_ words: EncodedArguments, _ topology: RedisTopology, _ pools: NodePools, timeout: Duration?, name: String)
    async throws(RedisError) -> RedisReply
  {
    let slot = words.routingKey.map { HashSlot(key: $0) }
    let begun = ContinuousClock.now
    var call = RoutedCall(until: begun + configuration.patience)
    var step = RoutedCall.Step.route
    while true {
      var isAsking = false
      let node: NodeAddress
      switch step {
      case .fail(let error): throw error
      case .rediscover(let pause):
        await topology.discover()
        try await Self.rest(pause)
        step = .route
        continue
      case .pause(let pause):
        try await Self.rest(pause)
        step = .route
        continue
      case .send(let target, let asking): (node, isAsking) = (target, asking)
      case .route:
        guard let target = try await topology.node(for: slot) else {
          step = call.unserved(now: .now, jitter: .random(in: 0...1))
          continue
        }
        node = target
      }
      let pool = pools[node]
      let connection: RedisConnection
      do throws(RedisError) { connection = try await pool.connection() } catch {
        let isLong = pool.unavailableFor.map { $0 > configuration.patience + begun.duration(to: .now) } ?? false
        step = call.unsent(error, isLong: isLong, now: .now, jitter: .random(in: 0...1))
        // This call fails; later ones need the new topology.
        if isLong { topology.refresh() }
        continue
      }
      let reply = try await pool.send(words, over: connection, isAsking: isAsking, timeout: timeout, name: name)
      guard let text = reply.error, let redirection = Redirection(refusal: text, by: node) else { return reply }
      configuration.observer?.redirected(redirection.kind)
      if case .moved(let slot, let target) = redirection { topology.moved(slot, to: target) }
      // A former primary keeps its connections open when it becomes a replica, so they must be closed here.
      if configuration.wantsPrimary, case .unsettled = redirection { connection.close() }
      step = call.refused(redirection, now: .now, jitter: .random(in: 0...1))
    }
  }

  private static func rest(_ pause: Duration) async throws(RedisError) {
    do { try await Task.sleep(for: pause) } catch { throw .unavailable("cancelled") }
  }
}
