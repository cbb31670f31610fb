public import Logging
import NIOConcurrencyHelpers

/// A Redis client. Concurrent callers share a few connections and their commands are pipelined, which lets Redis answer a whole batch after one
/// fsync. It fails fast while Redis is unavailable, and reconnects by itself.
///
/// The URL names one node, the primary that Sentinels name, or a Redis Cluster, where each command goes to the node of its key. Redirections are
/// followed. A command that was refused because a slot moves or a replica takes over is sent again for up to ``Configuration/patience``. A command
/// that may have been executed is never sent twice.
public final class RedisClient: Sendable {
  public struct Configuration: Sendable {
    /// Shared connections to a node, at the most; nil for four for each event loop.
    public var connections: Int?
    /// The event loop that the first connection belongs to.
    var firstLoop = 0
    public var connectTimeout: Duration = .seconds(2)
    /// How long one command may take.
    public var commandTimeout: Duration = .seconds(5)
    /// How long a command that was not executed is sent again while slots move or a replica takes over.
    public var patience: Duration = .seconds(2)
    /// Elements of one reply, nested ones counted.
    public var maxReplyElements = 1_000_000
    /// Asked for behind each batch of commands; nil: Redis' own reply is enough.
    public var replication: RedisReplication?
    /// Told of every command.
    public var observer: (any RedisObserver)?
    /// Told of messages, when the client subscribes to channels (`SSUBSCRIBE`).
    public var subscription: RedisSubscription?
    /// For `rediss://`.
    public var tls = RedisTLSFiles()
    /// A file whose first line is the password, in place of one in the URL; read anew for each connection.
    public var passwordFile: String?
    /// Who logs in at Sentinels, and the file whose first line is the password there; nil: nobody does.
    public var sentinelUser: String?
    public var sentinelPasswordFile: String?
    /// Whether a connection is refused that leads to a replica.
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

  public convenience init(url: RedisURL, configuration: Configuration = Configuration(), logger: Logger) {
    self.init(url: url, configuration: configuration, addresses: HostAddresses(), topology: nil, logger: logger)
  }

  /// - Parameter topology: that of another client of the same URL.
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
    // Short limits: the answers of the other nodes suffice when one does not answer.
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

  /// A client of its own for reads that block: their connection must not hold up others. `loop`: the number of the event loop that
  /// the connection belongs to, counted round.
  public func dedicated(commandTimeout: Duration, loop: Int = 0) -> RedisClient {
    derived {
      $0.firstLoop = loop
      $0.connections = 1
      $0.commandTimeout = commandTimeout
    }
  }

  /// A client of its own that subscribes: its one connection to a node may do little else.
  public func subscriber(loop: Int, _ subscription: RedisSubscription) -> RedisClient {
    derived {
      $0.firstLoop = loop
      $0.connections = 1
      $0.subscription = subscription
    }
  }

  /// A client of its own whose commands are answered when that many replicas have them: its connection waits for them.
  public func replicated(_ replication: RedisReplication) -> RedisClient {
    derived {
      $0.replication = replication
      $0.commandTimeout += replication.timeout
    }
  }

  /// Whether a connection stands now.
  public var isConnected: Bool {
    switch target {
    case .node(let pool): pool.isConnected
    case .topology(_, let pools): pools.isConnected
    }
  }

  /// Sends one command. Throws for a refusal too; see ``sendAllowingErrors(_:timeout:)``.
  @discardableResult
  public func send(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(arguments, timeout: timeout, name: name))
  }

  /// The same for a command whose words are written already; `name`: what it is called in metrics.
  @discardableResult
  public func send(_ words: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(words, timeout: timeout, name: name))
  }

  static func accepted(_ reply: RedisReply) throws(RedisError) -> RedisReply {
    if let text = reply.error { throw .refused(text) }
    return reply
  }

  /// Sends one command and answers whatever Redis says, a refusal included.
  ///
  /// `name`: what the command is called in metrics, where its first word says too little.
  public func sendAllowingErrors(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil)
    async throws(RedisError) -> RedisReply
  {
    try await sendAllowingErrors(EncodedArguments(arguments), timeout: timeout, name: name ?? arguments.first?.text ?? "")
  }

  /// The same for a command whose words are written already.
  public func sendAllowingErrors(_ words: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    switch target {
    case .node(let pool): try await pool.send(words, timeout: timeout, name: name)
    case .topology(let topology, let pools): try await route(words, topology, pools, timeout: timeout, name: name)
    }
  }

  /// The primaries as they are known now, to be asked one by one; one nil where there is a single node.
  public func primaries() async throws(RedisError) -> [NodeAddress?] {
    switch target {
    case .node: return [nil]
    case .topology(let topology, _): return try await topology.primaries()
    }
  }

  /// Sends a command that has no key to one of ``primaries()``.
  public func send(_ arguments: [RedisArgument], to node: NodeAddress?) async throws(RedisError) -> RedisReply {
    guard case .topology(_, let pools) = target, let node else { return try await send(arguments) }
    return try Self.accepted(await pools[node].send(EncodedArguments(arguments), name: arguments.first?.text ?? ""))
  }

  /// Sends a command that has no key to every primary: each node's name and what it answered. The name is nil where there is one node alone.
  public func sendToEachPrimary(_ arguments: [RedisArgument]) async throws(RedisError) -> [(node: NodeAddress?, reply: RedisReply)] {
    let name = arguments.first?.text ?? ""
    var answers: [(node: NodeAddress?, reply: RedisReply)] = []
    for node in try await primaries() {
      guard case .topology(_, let pools) = target, let node else { return [(nil, try await sendAllowingErrors(arguments))] }
      answers.append((node, try await pools[node].send(EncodedArguments(arguments), name: name)))
    }
    return answers
  }

  /// A connection of this client to the one node, or to the primary that Sentinels name. What is sent over it later goes over the same
  /// connection or fails, as `WATCH` requires.
  ///
  /// Use it with a ``dedicated(commandTimeout:loop:)`` client, since a transaction ends what others watch on its connection. Nil in a cluster,
  /// where keys decide which node a command goes to.
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

  /// Sends a command to the node that has its key, and wherever it is redirected.
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
        let isLong = pool.awayFor.map { $0 > configuration.patience + begun.duration(to: .now) } ?? false
        step = call.unsent(error, isLong: isLong, now: .now, jitter: .random(in: 0...1))
        // This call does not wait for the new topology; later ones need it.
        if isLong { topology.refresh() }
        continue
      }
      let reply = try await pool.send(words, over: connection, isAsking: isAsking, timeout: timeout, name: name)
      guard let text = reply.error, let redirection = Redirection(refusal: text, by: node) else { return reply }
      configuration.observer?.redirected(redirection.kind)
      if case .moved(let slot, let target) = redirection { topology.moved(slot, to: target) }
      // A replica keeps its connections, also those of before it became one.
      if configuration.wantsPrimary, case .unsettled = redirection { connection.close() }
      step = call.refused(redirection, now: .now, jitter: .random(in: 0...1))
    }
  }

  private static func rest(_ pause: Duration) async throws(RedisError) {
    do { try await Task.sleep(for: pause) } catch { throw .unavailable("cancelled") }
  }
}
