import Cryptography
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// One connection: commands are written in order, and the n-th reply answers the n-th command.
final class RedisConnection: Sendable {
  private let channel: any Channel
  private let handler: NIOLoopBound<RedisConnectionHandler>
  private let unansweredBytes = Atomic(0)

  private init(channel: any Channel, handler: NIOLoopBound<RedisConnectionHandler>) {
    self.channel = channel
    self.handler = handler
  }

  /// Connects, authenticates and selects the database.
  static func open(
    _ url: RedisURL, loop: any EventLoop, addresses: HostAddresses, connectTimeout: TimeAmount, maxReplyElements: Int,
    replication: RedisReplication? = nil, observer: (any RedisObserver)? = nil, tls: RedisTLSFiles = RedisTLSFiles(),
    passwordFile: String? = nil, onMessage: (@Sendable (String) -> Void)? = nil
  ) async throws -> RedisConnection {
    let password = try passwordFile.map(Self.password) ?? url.password
    let context = url.usesTLS ? try tls.context() : nil
    // Not looked up in the pipeline: a Redis that refuses at once closes the connection, and its pipeline is empty then. By channel, since
    // NIO tries several addresses of a name at a time.
    let handlers = NIOLockedValueBox<[ObjectIdentifier: NIOLoopBound<RedisConnectionHandler>]>([:])
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(connectTimeout)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelOption(.maxMessagesPerRead, value: 16)
      .channelOption(
        // No more than a core's cache has room for: what is read is looked at at once.
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 8192, maximum: 64 << 10)
      )
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let reader = ReplyReader(maxElements: maxReplyElements) else {
            throw RedisError.unavailable("no memory")
          }
          if let context {
            try channel.pipeline.syncOperations.addHandler(
              try NIOSSLClientHandler(context: context, serverHostname: url.serverName))
          }
          let handler = RedisConnectionHandler(reader: reader, replication: replication, observer: observer, onMessage: onMessage)
          try channel.pipeline.syncOperations.addHandler(handler)
          handlers.withLockedValue { $0[ObjectIdentifier(channel)] = NIOLoopBound(handler, eventLoop: channel.eventLoop) }
        }
      }
    let channel: any Channel
    switch url.address {
    case .tcp(let host, let port):
      channel = try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(Self.tcpOption(TCP_KEEPIDLE), value: 3).channelOption(Self.tcpOption(TCP_KEEPINTVL), value: 1)
        .channelOption(Self.tcpOption(TCP_KEEPCNT), value: 3).channelOption(Self.tcpOption(TCP_USER_TIMEOUT), value: 4000)
        .resolver(HostResolver(found: addresses.find(host, port: port, on: loop)))
        .connect(host: host, port: port).get()
    case .unix(let path): channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    }
    guard let handler = handlers.withLockedValue({ $0[ObjectIdentifier(channel)] }) else {
      throw RedisError.unavailable("the connection was closed")
    }
    let connection = RedisConnection(channel: channel, handler: handler)
    do {
      if let password {
        let words: [RedisArgument] = ["AUTH"] + (url.user.map { [.string($0)] } ?? []) + [.string(password)]
        if let text = try await connection.send(RedisWords(words), timeout: connectTimeout, name: "AUTH").error {
          throw RedisError.refused(text)
        }
      } else {
        // A Redis that wants a password, or refuses this host, says so here and not to every caller. Any other refusal is the command's own.
        let text = try await connection.send(RedisWords(["PING"]), timeout: connectTimeout, name: "PING").error
        if let text, text.hasPrefix("NOAUTH") || text.hasPrefix("DENIED") { throw RedisError.refused(text) }
      }
      if url.database != 0 {
        let words = RedisWords(["SELECT", .integer(Int64(url.database))])
        if let text = try await connection.send(words, timeout: connectTimeout, name: "SELECT").error { throw RedisError.refused(text) }
      }
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  /// A connection whose other end is gone without a word ends within about 6 s, idle or not (keep-alive after 3 s, three probes of 1 s;
  /// 4,000 ms for what is not acknowledged). Without that it would be found by a command that waits for its whole timeout.
  private static func tcpOption(_ name: CInt) -> ChannelOptions.Types.SocketOption {
    ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
  }

  private static func password(_ path: String) throws(RedisError) -> String {
    do throws(KeyFileError) { return try PrivateFile.firstLine(path) } catch {
      throw .passwordFile(error.text("password file"))
    }
  }

  var isOpen: Bool { channel.isActive }

  /// About how long the commands are that have no answer yet, bytes.
  var load: Int { unansweredBytes.load(ordering: .relaxed) }

  /// Concurrent callers' commands of one turn of the event loop leave together: Redis answers them after one fsync.
  ///
  /// `name`: what the command is called in metrics.
  func send(_ words: RedisWords, timeout: TimeAmount, name: String) async throws -> RedisReply {
    let size = words.size + 16
    unansweredBytes.add(size, ordering: .relaxed)
    defer { unansweredBytes.subtract(size, ordering: .relaxed) }
    let loop = channel.eventLoop
    return try await withUnsafeThrowingContinuation { continuation in
      if loop.inEventLoop {
        handler.value.send(words, timeout: timeout, name: name, continuation)
      } else {
        loop.execute { [handler] in handler.value.send(words, timeout: timeout, name: name, continuation) }
      }
    }
  }

  func close() { channel.close(promise: nil) }
}

/// The connection's state on its event loop.
final class RedisConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  typealias Continuation = UnsafeContinuation<RedisReply, any Error>

  /// A command that waits for its reply.
  private struct Sent {
    let continuation: Continuation
    let deadline: NIODeadline
    let name: String
    let start: NIODeadline
    /// Whether replicas have to have it before it is answered.
    let isConfirmed: Bool
  }

  private enum Waiting {
    case command(Sent)
    /// The question behind a batch: whether the replicas have it.
    case replication
  }

  private let reader: ReplyReader
  private let replication: RedisReplication?
  private let observer: (any RedisObserver)?
  /// Told the channels of messages.
  private let onMessage: (@Sendable (String) -> Void)?
  /// Who waits for the next replies, in their order.
  private var waiting = CircularBuffer<Waiting>()
  /// Whether what is to be written next has something that replicas have to confirm.
  private var asksReplicas = false
  /// Replies that are told when the replicas have what they are replies to.
  private var unreplicated: [(sent: Sent, reply: RedisReply)] = []
  /// One for all who wait: it rings no later than the first deadline, and is set anew when it rang for one that was met.
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture
  private var context: ChannelHandlerContext?
  /// What was not written yet, and whether it will be at the end of this turn.
  private var outgoing = ByteBuffer()
  private var isFlushing = false
  /// About how much a turn has to write.
  private var usualSize = RedisWords.long
  /// Why the connection ended; nil while it stands.
  private var failure: (any Error)?

  init(
    reader: ReplyReader, replication: RedisReplication? = nil, observer: (any RedisObserver)? = nil,
    onMessage: (@Sendable (String) -> Void)? = nil
  ) {
    self.onMessage = onMessage
    self.reader = reader
    self.replication = replication
    self.observer = observer
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func send(_ words: RedisWords, timeout: TimeAmount, name: String, _ continuation: Continuation) {
    guard let context, failure == nil else {
      continuation.resume(throwing: failure ?? RedisError.unavailable("the connection is closed"))
      return
    }
    let now = context.eventLoop.now
    let deadline = now + timeout
    let isConfirmed = replication != nil && !Self.unconfirmed.contains(name)
    asksReplicas = asksReplicas || isConfirmed
    waiting.append(
      .command(Sent(continuation: continuation, deadline: deadline, name: name, start: now, isConfirmed: isConfirmed)))
    observer?.sent()
    if deadline < alarmAt { setAlarm(deadline, context) }
    if !isFlushing {
      isFlushing = true
      let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
      context.eventLoop.execute { loop.value.flush() }
    }
    write(words, context)
  }

  /// What a turn has to write leaves in pieces: a command that finds one long enough begins another.
  private func write(_ words: RedisWords, _ context: ChannelHandlerContext) {
    if outgoing.readableBytes > Self.longPiece { writeOutgoing(context) }
    if outgoing.capacity == 0 { outgoing = context.channel.allocator.buffer(capacity: max(usualSize, words.size + 64)) }
    outgoing.writeRedisCommand(words)
  }

  private func writeOutgoing(_ context: ChannelHandlerContext) {
    guard outgoing.readableBytes > 0 else { return }
    usualSize = min(max(outgoing.readableBytes, RedisWords.long), 2 * Self.longPiece)
    context.write(wrapOutboundOut(outgoing), promise: nil)
    outgoing = ByteBuffer()
  }

  /// From so many bytes on nothing is added to a piece.
  private static let longPiece = RedisWords.long * 8

  /// Written to no replica: a connection can be made while they are away.
  private static let unconfirmed: Set<String> = ["AUTH", "SELECT", "PING"]

  private func setAlarm(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    alarm?.cancel()
    alarmAt = time
    let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
    alarm = context.eventLoop.scheduleTask(deadline: time) { loop.value.ring() }
  }

  private func ring() {
    alarm = nil
    alarmAt = .distantFuture
    var first = NIODeadline.distantFuture
    for case .command(let sent) in waiting { first = min(first, sent.deadline) }
    for (sent, _) in unreplicated { first = min(first, sent.deadline) }
    guard let context, first < .distantFuture else { return }
    // A reply that does not come leaves the order of later ones unknown: the whole connection goes.
    if first <= context.eventLoop.now { fail(RedisError.timedOut) } else { setAlarm(first, context) }
  }

  private func flush() {
    isFlushing = false
    guard let context, failure == nil else {
      // Nobody waits for it any more.
      outgoing = ByteBuffer()
      return
    }
    if let replication, asksReplicas {
      asksReplicas = false
      write(RedisWords(replication.question), context)
      waiting.append(.replication)
    }
    writeOutgoing(context)
    context.flush()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    do {
      try buffer.withUnsafeReadableBytes { try reader.feed($0) }
      while let reply = try reader.next() {
        if let onMessage, let channel = Self.channel(ofMessage: reply) {
          onMessage(channel)
          continue
        }
        guard let next = waiting.popFirst() else {
          // In protected mode, or past its limit of clients, Redis says so unasked and closes the connection.
          throw reply.error.map(RedisError.refused) ?? RedisError.unexpectedReply("nothing that was asked")
        }
        switch next {
        case .command(let sent):
          // A refusal has written nothing.
          if sent.isConfirmed, reply.error == nil { unreplicated.append((sent, reply)) } else { succeed(sent, reply) }
        case .replication: judge(reply)
        }
      }
    } catch {
      fail(error)
    }
  }

  /// The channel of a message of a subscription; nil for an answer.
  private static func channel(ofMessage reply: RedisReply) -> String? {
    var parts = reply.elements
    guard parts.underestimatedCount == 3, parts.nextString(like: "smessage") == "smessage" else { return nil }
    return parts.nextString()
  }

  /// The replicas' answer is that to the whole batch before it.
  private func judge(_ reply: RedisReply) {
    let batch = unreplicated
    unreplicated.removeAll(keepingCapacity: true)
    let isReplicated = replication?.isReached(reply) == true
    for (sent, reply) in batch {
      if isReplicated { succeed(sent, reply) } else { fail(sent, RedisError.notReplicated) }
    }
  }

  private func succeed(_ sent: Sent, _ reply: RedisReply) {
    if let observer {
      observer.answered(sent.name, seconds: Double((NIODeadline.now() - sent.start).nanoseconds) / 1e9)
      if reply.error != nil { observer.failed("refused") }
    }
    sent.continuation.resume(returning: reply)
  }

  private func fail(_ sent: Sent, _ error: any Error) {
    if let observer {
      observer.answered(sent.name, seconds: Double((NIODeadline.now() - sent.start).nanoseconds) / 1e9)
      observer.failed((error as? RedisError)?.kind ?? "unavailable")
    }
    sent.continuation.resume(throwing: error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(RedisError.unavailable("the connection was closed"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(RedisError.unavailable("\(error)"))
  }

  private func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    alarm?.cancel()
    alarm = nil
    let failed = waiting
    waiting = []
    // Before anybody hears of it: what is asked for next is not to be asked for here.
    context?.close(promise: nil)
    // What Redis has answered and no replica has confirmed was not done as promised.
    for (sent, _) in unreplicated { fail(sent, error) }
    unreplicated.removeAll()
    for case .command(let sent) in failed { fail(sent, error) }
  }
}
