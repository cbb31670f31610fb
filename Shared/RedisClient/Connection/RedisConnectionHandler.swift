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
    /// Whether replicas have to have it before it is answered.
    let isConfirmed: Bool
  }

  /// Several commands that were sent together, and the replies that came so far.
  private final class PendingBatch {
    let continuation: UnsafeContinuation<[RedisReply], any Error>
    let deadline: NIODeadline
    let name: String
    let start: NIODeadline
    /// Replies that are still to come and are not wanted; they come first.
    var ignored: Int
    /// Wanted replies that are still to come.
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
    /// The question behind a batch: whether the replicas have it.
    case replication
    /// A word that goes in front of a command: its answer tells nothing.
    case ignored
  }

  private let reader: ReplyReader
  private let replication: RedisReplication?
  private let observer: (any RedisObserver)?
  private let subscription: RedisSubscription?
  /// Channels that are subscribed to.
  private var channels: Set<String> = []
  /// Who waits for the next replies, in their order.
  private var waiting = CircularBuffer<PendingReply>()
  /// Whether what is to be written next has something that replicas have to confirm.
  private var asksReplicas = false
  /// Replies that are told when the replicas have what they are replies to.
  private var unreplicated: [(sent: PendingCommand, reply: RedisReply)] = []
  /// One timer for all commands: it fires no later than the first deadline, and is rescheduled if that command was answered.
  private var alarm: Scheduled<Void>?
  private var alarmAt = NIODeadline.distantFuture
  private var context: ChannelHandlerContext?
  /// What was not written yet, and whether it will be at the end of this turn.
  private var outgoing = ByteBuffer()
  private var isFlushing = false
  /// About how much a turn has to write.
  private var usualSize = EncodedArguments.long
  /// Why the connection ended; nil while it stands.
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

  /// Writes at the end of this turn of the event loop.
  private func flushLater(_ context: ChannelHandlerContext) {
    guard !isFlushing else { return }
    isFlushing = true
    let loop = NIOLoopBound(self, eventLoop: context.eventLoop)
    context.eventLoop.execute { loop.value.flush() }
  }

  /// - Parameter ignored: how many of the first replies are not wanted.
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

  /// Writes of one turn are collected in chunks; a chunk that is long enough is followed by another.
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

  /// From so many bytes on nothing is added to a piece.
  private static let longPiece = EncodedArguments.long * 8

  /// Written to no replica: a connection can be made while they are away.
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
        if let subscription, tell(subscription, reply) { continue }
        guard let next = waiting.popFirst() else {
          // In protected mode, or past its limit of clients, Redis says so unasked and closes the connection.
          throw reply.error.map(RedisError.refused) ?? RedisError.unexpectedReply("nothing that was asked")
        }
        switch next {
        case .command(let sent):
          // A refusal has written nothing.
          if sent.isConfirmed, reply.error == nil { unreplicated.append((sent, reply)) } else { succeed(sent, reply) }
        case .commands(let sent): collect(reply, for: sent)
        case .replication: judge(reply)
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

  /// Tells of a message, or of the end of a subscription that nobody asked to end; false for what is an answer.
  private func tell(_ subscription: RedisSubscription, _ reply: RedisReply) -> Bool {
    var parts = reply.elements
    guard parts.underestimatedCount == 3, let kind = parts.nextString(like: "smessage") else { return false }
    switch kind {
    case "smessage":
      if let channel = parts.nextString() { subscription.onMessage(channel) }
      return true
    case "ssubscribe":
      if let channel = parts.nextString() { channels.insert(channel) }
      return false
    case "sunsubscribe":
      if let channel = parts.nextString(), channels.remove(channel) != nil { subscription.onEnd(channel) }
      // The slot of a channel went to another node, unless it is the answer to what was asked.
      if case .command(let sent) = waiting.first { return sent.name != "SUNSUBSCRIBE" }
      return true
    default: return false
    }
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
    // Before anybody hears of it: what is asked for next is not to be asked for here.
    context?.close(promise: nil)
    // What Redis has answered and no replica has confirmed was not done as promised.
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
