import NIOCore
import NIOPosix
import Synchronization

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
  static func open(_ url: RedisURL, loop: any EventLoop, connectTimeout: TimeAmount, maxReplyElements: Int)
    async throws
    -> RedisConnection
  {
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(connectTimeout)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelOption(.maxMessagesPerRead, value: 16)
      .channelOption(
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 8192, maximum: 1 << 20)
      )
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let reader = ReplyReader(maxElements: maxReplyElements) else {
            throw RedisError.unavailable("no memory")
          }
          try channel.pipeline.syncOperations.addHandler(RedisConnectionHandler(reader: reader))
        }
      }
    let channel: any Channel
    switch url.address {
    case .tcp(let host, let port):
      channel = try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1).connect(host: host, port: port)
        .get()
    case .unix(let path): channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    }
    let handler = try await channel.eventLoop.submit {
      NIOLoopBound(
        try channel.pipeline.syncOperations.handler(type: RedisConnectionHandler.self), eventLoop: channel.eventLoop)
    }.get()
    let connection = RedisConnection(channel: channel, handler: handler)
    do {
      if let password = url.password {
        let words: [RedisArgument] = ["AUTH"] + (url.user.map { [.string($0)] } ?? []) + [.string(password)]
        if case .error(let text) = try await connection.send(words, timeout: connectTimeout) {
          throw RedisError.refused(text)
        }
      }
      if url.database != 0,
        case .error(let text) = try await connection.send(
          ["SELECT", .integer(Int64(url.database))], timeout: connectTimeout)
      {
        throw RedisError.refused(text)
      }
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  var isOpen: Bool { channel.isActive }

  /// About how long the commands are that have no answer yet, bytes.
  var load: Int { unansweredBytes.load(ordering: .relaxed) }

  /// Concurrent callers' commands of one turn of the event loop leave in one write: Redis answers them after one fsync.
  func send(_ arguments: [RedisArgument], timeout: TimeAmount) async throws -> RedisReply {
    let size = arguments.reduce(16) { $0 + $1.wireSize }
    unansweredBytes.add(size, ordering: .relaxed)
    defer { unansweredBytes.subtract(size, ordering: .relaxed) }
    let loop = channel.eventLoop
    return try await withUnsafeThrowingContinuation { continuation in
      if loop.inEventLoop {
        handler.value.send(arguments, timeout: timeout, continuation)
      } else {
        loop.execute { [handler] in handler.value.send(arguments, timeout: timeout, continuation) }
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

  private let reader: ReplyReader
  /// Who waits for the next replies, in their order, and until when.
  private var waiting = CircularBuffer<(continuation: Continuation, deadline: NIODeadline)>()
  /// One for all who wait: it rings no later than the first deadline, and is set anew when it rang for one that was met.
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture
  private var context: ChannelHandlerContext?
  private var outgoing: ByteBuffer?
  private var closed = false

  init(reader: ReplyReader) { self.reader = reader }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func send(_ arguments: [RedisArgument], timeout: TimeAmount, _ continuation: Continuation) {
    guard let context, !closed else {
      continuation.resume(throwing: RedisError.unavailable("the connection is closed"))
      return
    }
    let deadline = context.eventLoop.now + timeout
    waiting.append((continuation, deadline))
    if deadline < alarmAt { setAlarm(deadline, context) }
    if outgoing == nil {
      let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
      outgoing = context.channel.allocator.buffer(capacity: 16 << 10)
      context.eventLoop.execute { loop.value.flush() }
    }
    outgoing!.writeRedisCommand(arguments)
  }

  private func setAlarm(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    alarm?.cancel()
    alarmAt = time
    let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
    alarm = context.eventLoop.scheduleTask(deadline: time) { loop.value.ring() }
  }

  private func ring() {
    alarm = nil
    alarmAt = .distantFuture
    guard let context, let first = waiting.lazy.map(\.deadline).min() else { return }
    // A reply that does not come leaves the order of later ones unknown: the whole connection goes.
    if first <= context.eventLoop.now { fail(RedisError.timedOut) } else { setAlarm(first, context) }
  }

  private func flush() {
    guard let context, let outgoing else { return }
    self.outgoing = nil
    context.writeAndFlush(wrapOutboundOut(outgoing), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    do {
      try buffer.withUnsafeReadableBytes { try reader.feed($0) }
      while let reply = try reader.next() {
        guard let next = waiting.popFirst() else { throw RedisError.unexpectedReply("nothing that was asked") }
        next.continuation.resume(returning: reply)
      }
    } catch {
      fail(error)
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(RedisError.unavailable("the connection was closed"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(RedisError.unavailable("\(error)"))
  }

  private func fail(_ error: any Error) {
    guard !closed else { return }
    closed = true
    alarm?.cancel()
    alarm = nil
    let failed = waiting
    waiting = []
    for entry in failed { entry.continuation.resume(throwing: error) }
    context?.close(promise: nil)
  }
}
