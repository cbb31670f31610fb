public import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Divides the time of an event loop between tasks that compute on it and its connections. A loop runs all ready tasks before it polls its
/// connections again, and `Task.yield()` does not change that: with a hundred tasks of half a millisecond each, replies and writes wait for
/// all of them.
///
/// Tasks report the time that they used, and pause when together they have used up a time slice. The loop then polls its connections, and
/// the paused tasks go on in order. A pipe wakes them, because the loop reads a pipe only when it polls.
public final class LoopSlices: Sendable {
  private struct State {
    var used: Duration = .zero
    var waiting = CircularBuffer<CheckedContinuation<Void, Never>>()
    /// True if the waiting tasks will be resumed without another write to the pipe.
    var isResumeScheduled = false
    var pipe: (channel: any Channel, end: CInt)?
  }

  private final class Wake: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let slices: LoopSlices
    init(_ slices: LoopSlices) { self.slices = slices }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { slices.begin() }
    /// Resumes tasks that wait for a byte that can no longer be read.
    func channelInactive(context: ChannelHandlerContext) { slices.begin() }
  }

  private let loop: any EventLoop
  private let slice: Duration
  private let state = Mutex(State())

  private init(_ loop: any EventLoop, slice: Duration) {
    self.loop = loop
    self.slice = slice
  }

  /// Opens the pipe. The result must be closed. `slice`: how long all tasks together may compute before the loop polls its connections.
  /// Throws if no pipe can be opened.
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
      // The bootstrap closes the other end, unless it fails before it has made the channel.
      _ = Glibc.close(ends[1])
      throw error
    }
  }

  /// Closes the pipe. No task of the loop may pause afterwards.
  public func close() async {
    guard let pipe = state.withLock({ $0.pipe.take() }) else { return }
    _ = Glibc.close(pipe.end)
    try? await pipe.channel.close()
  }

  /// Reports the time that a task used. It may include time that the task waited, so at most one slice is counted.
  public func use(_ time: Duration) { state.withLock { $0.used += min(time, slice) } }

  /// Pauses if the slice is used up. Returns true if it paused.
  @discardableResult
  public func pauseIfUsedUp() async -> Bool {
    guard state.withLock({ $0.used >= slice }) else { return false }
    await withCheckedContinuation { continuation in
      let isResumeScheduled = state.withLock { state in
        state.waiting.append(continuation)
        defer { state.isResumeScheduled = true }
        return state.isResumeScheduled
      }
      if !isResumeScheduled { resumeAfterPoll() }
    }
    return true
  }

  /// Lets the loop poll its connections before the waiting tasks go on.
  private func resumeAfterPoll() {
    let end = state.withLock { $0.pipe?.end } ?? -1
    // At most one byte is in the pipe, so the write does not block. If the pipe is closed, the tasks go on without a poll.
    if write(end, "w", 1) != 1 { loop.execute { self.begin() } }
  }

  /// Begins a new slice.
  private func begin() {
    state.withLock { $0.used = .zero }
    resumeNext()
  }

  /// Resumes the first waiting task, and checks again after it has suspended.
  private func resumeNext() {
    let (next, isUsedUp) = state.withLock { state in
      let isUsedUp = state.used >= slice
      let next = isUsedUp ? nil : state.waiting.popFirst()
      state.isResumeScheduled = next != nil || !state.waiting.isEmpty
      return (next, isUsedUp && !state.waiting.isEmpty)
    }
    if isUsedUp { return resumeAfterPoll() }
    guard let next else { return }
    next.resume()
    loop.execute { self.resumeNext() }
  }
}
