public import Logging
import NIOConcurrencyHelpers

/// A Redis client. Concurrent callers share a few connections. Their commands are pipelined, so that Redis replies to many of them after
/// one fsync. While Redis is unavailable, commands fail at once. The client reconnects by itself.
///
/// ```swift
/// let client = RedisClient(url: try RedisURL("redis://localhost"), logger: logger)
/// try await client.send(["SET", "key", "value"])
/// let value = try await client.send(["GET", "key"]).string
/// ```
///
/// The URL names one node, Sentinels that name the primary, or a Redis Cluster, where each command goes to the node of its key
/// (``RedisURL``). Redirections are followed. A command that was not executed, because a slot moves or a replica takes over, is sent again
/// for up to ``Configuration/retryTimeout``. A command that may have been executed is never sent again.
///
/// `RedisConnectionPool.swift` has the connections to a node, and `Topology/RoutedCall.swift` the rules for redirections.
public final class RedisClient: Sendable {
  public struct Configuration: Sendable {
    /// The greatest number of shared connections to a node; nil for four times the number of event loops.
    public var connections: Int?
    /// The index of the event loop of the first connection.
    var firstLoop = 0
    public var connectTimeout: Duration = .seconds(2)
    /// The timeout of one command.
    public var commandTimeout: Duration = .seconds(5)
    /// The time for which a command that was not executed is retried while slots move or a replica takes over.
    public var retryTimeout: Duration = .seconds(2)
    /// The greatest number of elements of one reply, including nested ones. A longer reply ends the connection.
    public var maxReplyElements = 1_000_000
    /// The replicas that must confirm a command before its reply is passed on; nil if the primary's reply is enough.
    public var replication: RedisReplication?
    /// Called for each command.
    public var observer: (any RedisObserver)?
    /// Called for the messages of channels to which this client subscribes (`SSUBSCRIBE`).
    public var subscription: RedisSubscription?
    /// The files for TLS (`rediss://`).
    public var tls = RedisTLSFiles()
    /// A file whose first line is the password, instead of one in the URL. It is read for each new connection.
    public var passwordFile: String?
    /// The user for the login at Sentinels.
    public var sentinelUser: String?
    /// A file whose first line is the password for the login at Sentinels; nil for no login.
    public var sentinelPasswordFile: String?
    /// True if a connection to a replica must fail.
    var requiresPrimary = false

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

  /// True for a Redis Cluster. There, all keys of a command must be in one hash slot.
  public var isCluster: Bool { if case .cluster = url.deployment { true } else { false } }

  public convenience init(url: RedisURL, configuration: Configuration = Configuration(), logger: Logger) {
    self.init(url: url, configuration: configuration, addresses: HostAddresses(), topology: nil, logger: logger)
  }

  /// - Parameter topology: the topology of another client of the same URL, to share it; nil to create one.
  init(
    url: RedisURL, configuration given: Configuration, addresses: HostAddresses, topology shared: RedisTopology? = nil, logger: Logger
  ) {
    var configuration = given
    configuration.requiresPrimary = if case .sentinel = url.deployment { true } else { false }
    self.url = url
    self.configuration = configuration
    self.addresses = addresses
    self.logger = logger
    let pool: @Sendable (RedisURL) -> RedisConnectionPool = { [configuration] in
      RedisConnectionPool(url: $0, configuration: configuration, addresses: addresses, logger: logger)
    }
    guard let topology = shared ?? Self.topology(of: url, configuration, addresses, logger) else {
      target = .node(pool(url))
      return
    }
    let pools = NodePools { pool(url.ofNode($0)) }
    topology.whenChanged { [weak pools] in pools?.keep($0) }
    target = .topology(topology, pools)
  }

  /// The topology of a cluster or of Sentinels; nil for a single node.
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
      login = url.replacingLogin(user: given.sentinelUser)
    }
    // The timeouts are short, because a node that does not reply is not needed if the others agree.
    configuration.connectTimeout = min(given.connectTimeout, .milliseconds(500))
    configuration.commandTimeout = min(given.commandTimeout, .milliseconds(500))
    (configuration.connections, configuration.replication, configuration.subscription) = (1, nil, nil)
    configuration.requiresPrimary = false
    let pools = NodePools { [configuration, login] in
      RedisConnectionPool(url: login.ofNode($0), configuration: configuration, addresses: addresses, logger: logger)
    }
    return RedisTopology(discovery, seeds: url.nodes, pools: pools, logger: logger)
  }

  /// Another client of the same deployment, with its own connections.
  private func derived(_ adjust: (inout Configuration) -> Void) -> RedisClient {
    var configuration = configuration
    adjust(&configuration)
    var topology: RedisTopology?
    if case .topology(let known, _) = target { topology = known }
    return RedisClient(url: url, configuration: configuration, addresses: addresses, topology: topology, logger: logger)
  }

  /// A client with its own connection, for blocking reads, so that they do not delay other commands.
  ///
  /// - Parameter loop: the index of the event loop of its connection, modulo the number of loops.
  public func dedicated(commandTimeout: Duration, loop: Int = 0) -> RedisClient {
    derived {
      $0.firstLoop = loop
      $0.connections = 1
      $0.commandTimeout = commandTimeout
    }
  }

  /// A client with its own connection, for subscriptions, because a subscribed connection accepts few other commands.
  ///
  /// - Parameter loop: the index of the event loop of its connection, modulo the number of loops.
  public func subscriber(loop: Int, _ subscription: RedisSubscription) -> RedisClient {
    derived {
      $0.firstLoop = loop
      $0.connections = 1
      $0.subscription = subscription
    }
  }

  /// A client whose commands return only after the replicas have confirmed them. It has its own connections, because `WAIT` blocks a
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

  /// Sends one command and returns its reply. Throws ``RedisError/refused(_:)`` for an error reply.
  ///
  /// - Parameters:
  ///   - timeout: instead of ``Configuration/commandTimeout``.
  ///   - name: the command's name in metrics, if its first argument is not enough.
  @discardableResult
  public func send(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(arguments, timeout: timeout, name: name))
  }

  /// Sends one encoded command and returns its reply. Throws ``RedisError/refused(_:)`` for an error reply.
  @discardableResult
  public func send(_ arguments: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(arguments, timeout: timeout, name: name))
  }

  /// The reply, unless it is an error reply.
  static func accepted(_ reply: RedisReply) throws(RedisError) -> RedisReply {
    if let text = reply.error { throw .refused(text) }
    return reply
  }

  /// Like ``send(_:timeout:name:)``, but also returns an error reply.
  public func sendAllowingErrors(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil)
    async throws(RedisError) -> RedisReply
  {
    try await sendAllowingErrors(EncodedArguments(arguments), timeout: timeout, name: name ?? arguments.first?.text ?? "")
  }

  /// Sends one encoded command. Also returns an error reply.
  public func sendAllowingErrors(_ arguments: EncodedArguments, timeout: Duration? = nil, name: String)
    async throws(RedisError) -> RedisReply
  {
    switch target {
    case .node(let pool): try await pool.send(arguments, timeout: timeout, name: name)
    case .topology(let topology, let pools): try await route(arguments, topology, pools, timeout: timeout, name: name)
    }
  }

  /// The known primaries, for ``send(_:to:)``. For a single node, one element that is nil.
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

  /// Sends a command without a key to every primary. Returns each node's address and reply, including error replies. The address is nil for
  /// a single node.
  public func sendToEachPrimary(_ arguments: [RedisArgument]) async throws(RedisError) -> [(node: NodeAddress?, reply: RedisReply)] {
    let name = arguments.first?.text ?? ""
    var replies: [(node: NodeAddress?, reply: RedisReply)] = []
    for node in try await primaries() {
      guard case .topology(_, let pools) = target, let node else { return [(nil, try await sendAllowingErrors(arguments))] }
      replies.append((node, try await pools[node].send(EncodedArguments(arguments), name: name)))
    }
    return replies
  }

  /// A session: one connection to the single node, or to the primary that Sentinels name. All commands of the session are sent over this
  /// connection or fail, as `WATCH` requires. Nil for a cluster, where the key decides which node gets a command. Call this on a
  /// ``dedicated(commandTimeout:loop:)`` client, because a transaction ends the watches of other users of its connection.
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

  /// Closes all connections. Later commands fail.
  public func close() {
    switch target {
    case .node(let pool): pool.close()
    case .topology(_, let pools): pools.close()
    }
  }

  /// Sends a command to the node of its key, and follows redirections. ``RoutedCall`` decides what to do after a failure.
  private func route(_ arguments: EncodedArguments, _ topology: RedisTopology, _ pools: NodePools, timeout: Duration?, name: String)
    async throws(RedisError) -> RedisReply
  {
    let slot = arguments.routingKey.map { HashSlot(key: $0) }
    let start = ContinuousClock.now
    var call = RoutedCall(until: start + configuration.retryTimeout)
    var step = RoutedCall.Step.route
    while true {
      var isAsking = false
      let node: NodeAddress
      switch step {
      case .fail(let error): throw error
      case .rediscover(let pause):
        await topology.discover()
        try await Self.sleep(pause)
        step = .route
        continue
      case .pause(let pause):
        try await Self.sleep(pause)
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
        // The node has been unavailable since before this call, and for longer than commands are retried.
        let isLong = pool.unavailableFor.map { $0 > configuration.retryTimeout + start.duration(to: .now) } ?? false
        step = call.unsent(error, isLong: isLong, now: .now, jitter: .random(in: 0...1))
        // This call fails at once. Later calls need the new topology.
        if isLong { topology.refresh() }
        continue
      }
      let reply = try await pool.send(arguments, over: connection, isAsking: isAsking, timeout: timeout, name: name)
      guard let text = reply.error, let redirection = Redirection(errorReply: text, from: node) else { return reply }
      configuration.observer?.redirected(redirection.kind)
      if case .moved(let slot, let target) = redirection { topology.moved(slot, to: target) }
      // A primary that becomes a replica keeps its connections open, so they must be closed here.
      if configuration.requiresPrimary, case .unsettled = redirection { connection.close() }
      step = call.refused(redirection, now: .now, jitter: .random(in: 0...1))
    }
  }

  private static func sleep(_ pause: Duration) async throws(RedisError) {
    do { try await Task.sleep(for: pause) } catch { throw .unavailable("cancelled") }
  }
}
