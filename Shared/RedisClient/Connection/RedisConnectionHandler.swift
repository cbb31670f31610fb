import NIOCore

/// The state of a connection on its event loop: it writes commands, and passes each reply to the caller of its command.
///
/// The commands of one event-loop turn are collected and written at the end of the turn.
final class RedisConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  typealias Continuation = UnsafeContinuation<RedisReply, any Error>

  private let reader: ReplyReader
  private let replication: RedisReplication?
  private let observer: (any RedisObserver)?
  private let subscription: RedisSubscription?
  /// The subscribed channels.
  private var channels: Set<String> = []
  /// The receivers of the next replies, in order.
  private var pending = CircularBuffer<PendingReply>()
  /// True if this turn's commands include one that replicas must confirm.
  private var needsConfirmation = false
  /// Replies that are not passed on until the replicas confirm their commands.
  private var unconfirmedReplies: [(sent: PendingCommand, reply: RedisReply)] = []
  /// One timer for all commands. It fires no later than the first deadline. If that command has its reply by then, the timer is scheduled
  /// again for the next deadline.
  private var timer: Scheduled<Void>?
  /// The time at which the timer fires.
  private var timerAt = NIODeadline.distantFuture
  private var context: ChannelHandlerContext?
  /// Bytes that are not written yet.
  private var outgoing = ByteBuffer()
  /// True if a flush at the end of this turn is scheduled.
  private var isFlushScheduled = false
  /// The capacity of the next buffer, which follows the number of bytes of the last one.
  private var bufferCapacity = EncodedArguments.largeSize
  /// Why the connection ended; nil while it is open.
  private var failure: (any Error)?

  init(
    reader: ReplyReader, replication: RedisReplication? = nil, observer: (any RedisObserver)? = nil,
    subscription: RedisSubscription? = nil
  ) {
    self.subscription = subscription
    self.reader = reader
    self.replication = replication
    self.observer = observer
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Sends one command. Its reply, or the error, resumes the continuation.
  func send(_ arguments: EncodedArguments, isAsking: Bool, timeout: TimeAmount, name: String, _ continuation: Continuation) {
    guard let context, failure == nil else {
      continuation.resume(throwing: failure ?? RedisError.unavailable("the connection is closed"))
      return
    }
    let now = context.eventLoop.now
    let deadline = now + timeout
    let mustBeConfirmed = replication != nil && !Self.unconfirmedCommands.contains(name)
    needsConfirmation = needsConfirmation || mustBeConfirmed
    if isAsking {
      write(Self.asking, context)
      pending.append(.ignored)
    }
    pending.append(
      .command(PendingCommand(continuation: continuation, deadline: deadline, name: name, start: now, mustBeConfirmed: mustBeConfirmed)))
    observer?.sent()
    if deadline < timerAt { scheduleTimer(deadline, context) }
    scheduleFlush(context)
    write(arguments, context)
  }

  /// Schedules a flush at the end of this turn of the event loop.
  private func scheduleFlush(_ context: ChannelHandlerContext) {
    guard !isFlushScheduled else { return }
    isFlushScheduled = true
    let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { loop.value.flush() }
  }

  /// Sends several commands together.
  ///
  /// - Parameter ignored: the number of first replies that are dropped.
  func send(
    _ commands: EncodedCommands, ignoring ignored: Int, timeout: TimeAmount, name: String,
    _ continuation: UnsafeContinuation<[RedisReply], any Error>
  ) {
    guard let context, failure == nil else {
      continuation.resume(throwing: failure ?? RedisError.unavailable("the connection is closed"))
      return
    }
    let now = context.eventLoop.now
    let deadline = now + timeout
    pending.append(.commands(PendingBatch(commands, ignoring: ignored, deadline: deadline, name: name, start: now, continuation)))
    observer?.sent()
    if deadline < timerAt { scheduleTimer(deadline, context) }
    scheduleFlush(context)
    reserve(commands.arguments.size, context)
    outgoing.writeRedisCommands(commands)
  }

  private static let asking = EncodedArguments(["ASKING"])

  /// Appends a command to the bytes of this turn.
  private func write(_ arguments: EncodedArguments, _ context: ChannelHandlerContext) {
    reserve(arguments.size, context)
    outgoing.writeRedisCommand(arguments)
  }

  /// Prepares the buffer for a command of that size. If the buffer is long enough, it is written, and the command begins another one.
  private func reserve(_ size: Int, _ context: ChannelHandlerContext) {
    if outgoing.readableBytes > Self.chunkThreshold { writeOutgoing(context) }
    if outgoing.capacity == 0 { outgoing = context.channel.allocator.buffer(capacity: max(bufferCapacity, size + 64)) }
  }

  private func writeOutgoing(_ context: ChannelHandlerContext) {
    guard outgoing.readableBytes > 0 else { return }
    bufferCapacity = min(max(outgoing.readableBytes, EncodedArguments.largeSize), 2 * Self.chunkThreshold)
    context.write(wrapOutboundOut(outgoing), promise: nil)
    outgoing = ByteBuffer()
  }

  /// The size in bytes from which no command is added to a buffer.
  private static let chunkThreshold = EncodedArguments.largeSize * 8

  /// Commands that write nothing, so that replicas need not confirm them. A connection can therefore be opened while the replicas are
  /// unavailable.
  private static let unconfirmedCommands: Set<String> = ["AUTH", "SELECT", "PING", "ROLE"]

  private func scheduleTimer(_ time: NIODeadline, _ context: ChannelHandlerContext) {
    timer?.cancel()
    timerAt = time
    let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(deadline: time) { loop.value.checkDeadlines() }
  }

  /// Closes the connection if a command has timed out. Otherwise schedules the timer for the next deadline.
  private func checkDeadlines() {
    timer = nil
    timerAt = .distantFuture
    var first = NIODeadline.distantFuture
    for next in pending {
      switch next {
      case .command(let sent): first = min(first, sent.deadline)
      case .commands(let sent): first = min(first, sent.deadline)
      case .replication, .ignored: break
      }
    }
    for (sent, _) in unconfirmedReplies { first = min(first, sent.deadline) }
    guard let context, first < .distantFuture else { return }
    // Replies are matched by their order, so if one is missing, the whole connection must be closed.
    if first <= context.eventLoop.now { fail(RedisError.timedOut) } else { scheduleTimer(first, context) }
  }

  private func flush() {
    isFlushScheduled = false
    guard let context, failure == nil else {
      // `fail` has resumed the callers of these commands.
      outgoing = ByteBuffer()
      return
    }
    if let replication, needsConfirmation {
      needsConfirmation = false
      write(EncodedArguments(replication.command), context)
      pending.append(.replication)
    }
    writeOutgoing(context)
    context.flush()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    do {
      try buffer.withUnsafeReadableBytes { try reader.feed($0) }
      while true {
        if case .commands(let sent)? = pending.first, sent.ignored > 0 {
          guard try reader.skip() else { break }
          sent.ignored -= 1
          continue
        }
        guard let reply = try reader.next() else { break }
        if let subscription, handlePush(subscription, reply) { continue }
        guard let next = pending.popFirst() else {
          // In protected mode, or beyond its limit of clients, Redis sends an error without a command and closes the connection.
          throw reply.error.map(RedisError.refused) ?? RedisError.unexpectedReply("a command that was not sent")
        }
        switch next {
        case .command(let sent):
          // A command with an error reply has written nothing, so there is nothing to confirm.
          if sent.mustBeConfirmed, reply.error == nil { unconfirmedReplies.append((sent, reply)) } else { succeed(sent, reply) }
        case .commands(let sent): collect(reply, for: sent)
        case .replication: settleUnconfirmed(reply)
        case .ignored: break
        }
      }
    } catch {
      fail(error)
    }
  }

  /// Adds a reply to those of a batch, and passes all of them on if it is the last one.
  private func collect(_ reply: RedisReply, for sent: PendingBatch) {
    sent.replies.append(reply)
    sent.missing -= 1
    guard sent.missing == 0 else { return pending.prepend(.commands(sent)) }
    observer?.answered(sent.name, seconds: Double((NIODeadline.now() - sent.start).nanoseconds) / 1e9)
    sent.continuation.resume(returning: sent.replies)
  }

  /// Handles what Redis sends because of a subscription: a message, or the end of a subscription that nobody requested. Returns false for
  /// the reply to a command.
  private func handlePush(_ subscription: RedisSubscription, _ reply: RedisReply) -> Bool {
    var parts = reply.elements
    guard parts.underestimatedCount == 3, let kind = parts.nextString(like: "smessage") else { return false }
    switch kind {
    case "smessage":
      if let channel = parts.nextString() { subscription.onMessage(channel, parts.nextBytes() ?? []) }
      return true
    case "ssubscribe":
      if let channel = parts.nextString() { channels.insert(channel) }
      return false
    case "sunsubscribe":
      if let channel = parts.nextString(), channels.remove(channel) != nil { subscription.onEnd(channel) }
      // Unless this is the reply to `SUNSUBSCRIBE`, Redis ended the subscription, because the channel's slot moved to another node.
      if case .command(let sent) = pending.first { return sent.name != "SUNSUBSCRIBE" }
      return true
    default: return false
    }
  }

  /// Handles the replicas' confirmation, which is for all commands since the last one.
  private func settleUnconfirmed(_ reply: RedisReply) {
    let replies = unconfirmedReplies
    unconfirmedReplies.removeAll(keepingCapacity: true)
    let isReplicated = replication?.isConfirmed(by: reply) == true
    for (sent, reply) in replies {
      if isReplicated { succeed(sent, reply) } else { fail(sent, RedisError.notReplicated) }
    }
  }

  private func succeed(_ sent: PendingCommand, _ reply: RedisReply) {
    if let observer {
      observer.answered(sent.name, seconds: Double((NIODeadline.now() - sent.start).nanoseconds) / 1e9)
      if let text = reply.error, !Redirection.isRoutingReply(text) { observer.failed("refused") }
    }
    sent.continuation.resume(returning: reply)
  }

  private func fail(_ sent: PendingCommand, _ error: any Error) {
    reportFailure(sent.name, sent.start, error)
    sent.continuation.resume(throwing: error)
  }

  private func reportFailure(_ name: String, _ start: NIODeadline, _ error: any Error) {
    guard let observer else { return }
    observer.answered(name, seconds: Double((NIODeadline.now() - start).nanoseconds) / 1e9)
    observer.failed((error as? RedisError)?.kind ?? "unavailable")
  }

  func channelInactive(context: ChannelHandlerContext) {
    fail(RedisError.unavailable("the connection was closed"))
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    fail(RedisError.unavailable("\(error)"))
  }

  /// Closes the connection, and fails all commands that wait for a reply. Only the first call has an effect.
  private func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    timer?.cancel()
    timer = nil
    let failed = pending
    pending = []
    // The connection is closed before the callers are resumed, so that their next command does not use it.
    context?.close(promise: nil)
    // Commands that the replicas did not confirm fail too, because they may be lost.
    for (sent, _) in unconfirmedReplies { fail(sent, error) }
    unconfirmedReplies.removeAll()
    for next in failed {
      switch next {
      case .command(let sent): fail(sent, error)
      case .commands(let sent):
        reportFailure(sent.name, sent.start, error)
        sent.continuation.resume(throwing: error)
      case .replication, .ignored: break
      }
    }
    guard let subscription else { return }
    for channel in channels { subscription.onEnd(channel) }
    channels = []
  }
}
