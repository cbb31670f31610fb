public import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Shares an event loop between tasks that compute on it and its connections. A loop runs whatever is ready before it looks at its
/// connections again, and giving way to other tasks (`Task.yield()`) does not change that: with a hundred tasks that take half a
/// millisecond each, a reply that has come waits for all of them, and so does what is to be written.
///
/// Tasks that compute say what they took, and pause when together they have used up a slice of time. The connections have their turn,
/// then those that paused go on in their order. A pipe wakes them: it is read when the loop looks at its connections, and
/// never before.
public final class LoopSlices: Sendable {
  private struct State {
    var used: Duration = .zero
    var waiting = CircularBuffer<CheckedContinuation<Void, Never>>()
    /// Whether somebody will see to those that wait.
    var isSeenTo = false
    var pipe: (channel: any Channel, end: CInt)?
  }

  private final class Wake: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let slices: LoopSlices
    init(_ slices: LoopSlices) { self.slices = slices }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { slices.begin() }
    /// Whoever waits for what would have been read waits no longer.
    func channelInactive(context: ChannelHandlerContext) { slices.begin() }
  }

  private let loop: any EventLoop
  private let slice: Duration
  private let state = Mutex(State())

  private init(_ loop: any EventLoop, slice: Duration) {
    self.loop = loop
    self.slice = slice
  }

  /// `slice`: how long tasks may compute, all together, before the connections have their turn. Throws when the system has no pipe.
  /// To be closed.
  public static func open(_ loop: any EventLoop, slice: Duration = .milliseconds(5)) async throws -> LoopSlices {
    let slices = LoopSlices(loop, slice: slice)
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw IOError(errnoCode: errno, reason: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    do {
      let channel = try await NIOPipeBootstrap(group: loop).channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(Wake(slices)) }
      }.takingOwnershipOfDescriptor(input: ends[0]).get()
      slices.state.withLock { $0.pipe = (channel, ends[1]) }
      return slices
    } catch {
      // The other end is the bootstrap's, which closes it unless it is refused at once.
      _ = Glibc.close(ends[1])
      throw error
    }
  }

  /// For when no task of the loop pauses any more.
  public func close() async {
    guard let pipe = state.withLock({ $0.pipe.take() }) else { return }
    _ = Glibc.close(pipe.end)
    try? await pipe.channel.close()
  }

  /// A task of the loop has taken that time. What it waited in between may count too: no more is made of it than the end of the slice.
  public func use(_ time: Duration) { state.withLock { $0.used += min(time, slice) } }

  /// Returns false at once, or true after the connections had their turn.
  @discardableResult
  public func pauseIfUsedUp() async -> Bool {
    guard state.withLock({ $0.used >= slice }) else { return false }
    await withCheckedContinuation { continuation in
      let isSeenTo = state.withLock { state in
        state.waiting.append(continuation)
        defer { state.isSeenTo = true }
        return state.isSeenTo
      }
      if !isSeenTo { giveWay() }
    }
    return true
  }

  /// Lets the loop look at its connections.
  private func giveWay() {
    let end = state.withLock { $0.pipe?.end } ?? -1
    // One byte is in the pipe at a time, so that there is room. Closed, it gives no turn.
    if write(end, "w", 1) != 1 { loop.execute { self.begin() } }
  }

  /// A new slice.
  private func begin() {
    state.withLock { $0.used = .zero }
    goOn()
  }

  /// Lets the first of those that wait go on, and looks again when it has come to a stop.
  private func goOn() {
    let (next, isUsedUp) = state.withLock { state in
      let isUsedUp = state.used >= slice
      let next = isUsedUp ? nil : state.waiting.popFirst()
      state.isSeenTo = next != nil || !state.waiting.isEmpty
      return (next, isUsedUp && !state.waiting.isEmpty)
    }
    if isUsedUp { return giveWay() }
    guard let next else { return }
    next.resume()
    loop.execute { self.goOn() }
  }
}
