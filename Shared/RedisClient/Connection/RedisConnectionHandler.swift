import NIOCore

/// The state of a connection on its event loop.
final class RedisConnectionHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  typealias Continuation = UnsafeContinuation<RedisReply, any Error>

  /// A command that waits for its reply.
  private struct PendingCommand {
    let continuation: Continuation
    let deadline: NIODeadline
    let name: String
    let start: NIODeadline
    /// True if replicas must confirm the command before its reply is passed on.
    let isConfirmed: Bool
  }

  /// Several commands that were sent together, with the replies received so far.
  private final class PendingBatch {
    let continuation: UnsafeContinuation<[RedisReply], any Error>
    let deadline: NIODeadline
    let name: String
    let start: NIODeadline
    /// The number of replies still to be dropped; they come first.
    var ignored: Int
    /// The number of replies still to be collected.
    var missing: Int
    var replies: [RedisReply] = []

    init(
      _ commands: EncodedCommands, ignoring ignored: Int, deadline: NIODeadline, name: String, start: NIODeadline,
      _ continuation: UnsafeContinuation<[RedisReply], any Error>
    ) {
      self.continuation = continuation
      self.deadline = deadline
      self.name = name
      self.start = start
      self.ignored = ignored
      missing = commands.count - ignored
      replies.reserveCapacity(missing)
    }
  }

  private enum PendingReply {
    case command(PendingCommand)
    case commands(PendingBatch)
    /// The reply to `WAIT` or `WAITAOF`, which follows a batch of commands.
    case replication
    /// The reply to `ASKING`, which precedes a command; it is dropped.
    case ignored
  }

  private let reader: ReplyReader
  private let replication: RedisReplication?
  private let observer: (any RedisObserver)?
  private let subscription: RedisSubscription?
  /// The subscribed channels.
  private var channels: Set<String> = []
  /// The receivers of the next replies, in order.
  private var waiting = CircularBuffer<PendingReply>()
  /// True if the next batch contains a command that replicas must confirm.
  private var asksReplicas = false
  /// Replies that are held back until the replicas confirm their commands.
  private var unreplicated: [(sent: PendingCommand, reply: RedisReply)] = []
  /// One timer for all commands: it fires no later than the first deadline, and is rescheduled if that command was answered.
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture
  private var context: ChannelHandlerContext?
  /// Bytes not written yet, and whether a flush at the end of this turn is scheduled.
  private var outgoing = ByteBuffer()
  private var isFlushing = false
  /// The approximate number of bytes that a turn writes; it sizes the next buffer.
  private var usualSize = EncodedArguments.long
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

  func send(_ words: EncodedArguments, isAsking: Bool, timeout: TimeAmount, name: String, _ continuation: Continuation) {
    guard let context, failure == nil else {
      continuation.resume(throwing: failure ?? RedisError.unavailable("the connection is closed"))
      return
    }
    let now = context.eventLoop.now
    let deadline = now + timeout
    let isConfirmed = replication != nil && !Self.unconfirmed.contains(name)
    asksReplicas = asksReplicas || isConfirmed
    if isAsking {
      write(Self.asking, context)
      waiting.append(.ignored)
    }
    waiting.append(
      .command(PendingCommand(continuation: continuation, deadline: deadline, name: name, start: now, isConfirmed: isConfirmed)))
    observer?.sent()
    if deadline < alarmAt { setAlarm(deadline, context) }
    flushLater(context)
    write(words, context)
  }

  /// Schedules a flush at the end of this turn of the event loop.
  private func flushLater(_ context: ChannelHandlerContext) {
    guard !isFlushing else { return }
    isFlushing = true
    let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { loop.value.flush() }
  }

  /// - Parameter ignored: the number of replies at the beginning that are dropped.
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
    waiting.append(.commands(PendingBatch(commands, ignoring: ignored, deadline: deadline, name: name, start: now, continuation)))
    observer?.sent()
    if deadline < alarmAt { setAlarm(deadline, context) }
    flushLater(context)
    makeRoom(commands.words.size, context)
    outgoing.writeRedisCommands(commands)
  }

  private static let asking = EncodedArguments(["ASKING"])

  /// Collects the writes of one turn in chunks. When a chunk is long enough, the next write begins another one.
  private func write(_ words: EncodedArguments, _ context: ChannelHandlerContext) {
    makeRoom(words.size, context)
    outgoing.writeRedisCommand(words)
  }

  private func makeRoom(_ size: Int, _ context: ChannelHandlerContext) {
    if outgoing.readableBytes > Self.longPiece { writeOutgoing(context) }
    if outgoing.capacity == 0 { outgoing = context.channel.allocator.buffer(capacity: max(usualSize, size + 64)) }
  }

  private func writeOutgoing(_ context: ChannelHandlerContext) {
    guard outgoing.readableBytes > 0 else { return }
    usualSize = min(max(outgoing.readableBytes, EncodedArguments.long), 2 * Self.longPiece)
    context.write(wrapOutboundOut(outgoing), promise: nil)
    outgoing = ByteBuffer()
  }

  /// The size in bytes from which a chunk is not extended.
  private static let longPiece = EncodedArguments.long * 8

  /// Commands that write nothing, so no replica confirms them. A connection can therefore be opened while the replicas are unavailable.
  private static let unconfirmed: Set<String> = ["AUTH", "SELECT", "PING", "ROLE"]

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
    for next in waiting {
      switch next {
      case .command(let sent): first = min(first, sent.deadline)
      case .commands(let sent): first = min(first, sent.deadline)
      case .replication, .ignored: break
      }
    }
    for (sent, _) in unreplicated { first = min(first, sent.deadline) }
    guard let context, first < .distantFuture else { return }
    // Replies are matched by order, so after a missing reply the whole connection must be closed.
    if first <= context.eventLoop.now { fail(RedisError.timedOut) } else { setAlarm(first, context) }
  }

  private func flush() {
    isFlushing = false
    guard let context, failure == nil else {
      // No caller waits for these commands any more.
      outgoing = ByteBuffer()
      return
    }
    if let replication, asksReplicas {
      asksReplicas = false
      write(EncodedArguments(replication.question), context)
      waiting.append(.replication)
    }
    writeOutgoing(context)
    context.flush()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let buffer = unwrapInboundIn(data)
    do {
      try buffer.withUnsafeReadableBytes { try reader.feed($0) }
      while true {
        if case .commands(let sent)? = waiting.first, sent.ignored > 0 {
          guard try reader.skip() else { break }
          sent.ignored -= 1
          continue
        }
        guard let reply = try reader.next() else { break }
        if let subscription, handlePush(subscription, reply) { continue }
        guard let next = waiting.popFirst() else {
          // Redis sends an error unasked and closes the connection if it is in protected mode or past its limit of clients.
          throw reply.error.map(RedisError.refused) ?? RedisError.unexpectedReply("a command that was not sent")
        }
        switch next {
        case .command(let sent):
          // An error reply has written nothing, so there is nothing to confirm.
          if sent.isConfirmed, reply.error == nil { unreplicated.append((sent, reply)) } else { succeed(sent, reply) }
        case .commands(let sent): collect(reply, for: sent)
        case .replication: settleReplicated(reply)
        case .ignored: break
        }
      }
    } catch {
      fail(error)
    }
  }

  private func collect(_ reply: RedisReply, for sent: PendingBatch) {
    sent.replies.append(reply)
    sent.missing -= 1
    guard sent.missing == 0 else { return waiting.prepend(.commands(sent)) }
    observer?.answered(sent.name, seconds: Double((NIODeadline.now() - sent.start).nanoseconds) / 1e9)
    sent.continuation.resume(returning: sent.replies)
  }

  /// Handles a push of a subscription: a message, or the end of a subscription that was not requested. Returns false for the reply to a
  /// command.
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
      // Redis ended the subscription because the channel's slot moved to another node, unless this is the reply to `SUNSUBSCRIBE`.
      if case .command(let sent) = waiting.first { return sent.name != "SUNSUBSCRIBE" }
      return true
    default: return false
    }
  }

  /// Handles the replicas' confirmation, which counts for the whole batch before it.
  private func settleReplicated(_ reply: RedisReply) {
    let batch = unreplicated
    unreplicated.removeAll(keepingCapacity: true)
    let isReplicated = replication?.isReached(reply) == true
    for (sent, reply) in batch {
      if isReplicated { succeed(sent, reply) } else { fail(sent, RedisError.notReplicated) }
    }
  }

  private func succeed(_ sent: PendingCommand, _ reply: RedisReply) {
    if let observer {
      observer.answered(sent.name, seconds: Double((NIODeadline.now() - sent.start).nanoseconds) / 1e9)
      if let text = reply.error, !Redirection.isElsewhere(text) { observer.failed("refused") }
    }
    sent.continuation.resume(returning: reply)
  }

  private func fail(_ sent: PendingCommand, _ error: any Error) {
    noteFailure(sent.name, sent.start, error)
    sent.continuation.resume(throwing: error)
  }

  private func noteFailure(_ name: String, _ start: NIODeadline, _ error: any Error) {
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

  private func fail(_ error: any Error) {
    guard failure == nil else { return }
    failure = error
    alarm?.cancel()
    alarm = nil
    let failed = waiting
    waiting = []
    // The connection is closed before the callers are resumed, so that their next command does not use it.
    context?.close(promise: nil)
    // Commands that the replicas did not confirm fail too, because their promise of durability was not kept.
    for (sent, _) in unreplicated { fail(sent, error) }
    unreplicated.removeAll()
    for next in failed {
      switch next {
      case .command(let sent): fail(sent, error)
      case .commands(let sent):
        noteFailure(sent.name, sent.start, error)
        sent.continuation.resume(throwing: error)
      case .replication, .ignored: break
      }
    }
    guard let subscription else { return }
    for channel in channels { subscription.onEnd(channel) }
    channels = []
  }
}
