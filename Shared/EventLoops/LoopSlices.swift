public import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Divides the time of an event loop between its connections and the tasks that compute on it. A loop runs all ready tasks before it polls
/// its connections again, even tasks that call `Task.yield()`. So with many ready tasks, replies and writes would wait for all of them.
///
/// ```swift
/// let slices = try await LoopSlices.open(loop)
/// for item in items {  // in a task on the loop
///   await slices.pauseIfUsedUp()
///   let start = ContinuousClock.now
///   compute(item)
///   slices.use(start.duration(to: .now))
/// }
/// ```
///
/// Tasks report the time that they used. When together they have used up a time slice, they pause. The loop then polls its connections, and
/// the paused tasks go on in their order. A byte in a pipe resumes them, because the loop reads the pipe only when it polls.
public final class LoopSlices: Sendable {
  private struct State {
    /// The time that tasks have used of the present slice.
    var used: Duration = .zero
    /// The paused tasks.
    var waiting = CircularBuffer<CheckedContinuation<Void, Never>>()
    /// True if a byte is in the pipe or a resume is scheduled, so that a task that pauses now must not write another byte.
    var isResumeScheduled = false
    /// The channel that reads from the pipe, and the descriptor to which tasks write. Nil after `close`.
    var pipe: (channel: any Channel, writeEnd: CInt)?
  }

  /// Begins a new slice when the loop reads a byte from the pipe.
  private final class PipeHandler: ChannelInboundHandler, Sendable {
    typealias InboundIn = ByteBuffer
    let slices: LoopSlices
    init(_ slices: LoopSlices) { self.slices = slices }
    func channelRead(context: ChannelHandlerContext, data: NIOAny) { slices.begin() }
    /// The pipe is closed. Resumes the tasks that wait for a byte from it.
    func channelInactive(context: ChannelHandlerContext) { slices.begin() }
  }

  private let loop: any EventLoop
  private let slice: Duration
  private let state = Mutex(State())

  private init(_ loop: any EventLoop, slice: Duration) {
    self.loop = loop
    self.slice = slice
  }

  /// Opens the pipe. The caller must call ``close()`` at the end. Throws if no pipe can be opened.
  ///
  /// - Parameter slice: the time that all tasks of the loop together may compute before the loop polls its connections.
  public static func open(_ loop: any EventLoop, slice: Duration = .milliseconds(5)) async throws -> LoopSlices {
    let slices = LoopSlices(loop, slice: slice)
    var ends: [CInt] = [-1, -1]
    guard pipe(&ends) == 0 else { throw IOError(errnoCode: errno, reason: "pipe") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
    do {
      let channel = try await NIOPipeBootstrap(group: loop).channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(PipeHandler(slices)) }
      }.takingOwnershipOfDescriptor(input: ends[0]).get()
      slices.state.withLock { $0.pipe = (channel, ends[1]) }
      return slices
    } catch {
      // Only the write end is closed here. NIO closes the read end if it has created the channel. If it has not, the read end stays open.
      _ = Glibc.close(ends[1])
      throw error
    }
  }

  /// Closes the pipe. No task may pause at the same time, because it could write to the closed descriptor.
  public func close() async {
    guard let pipe = state.withLock({ $0.pipe.take() }) else { return }
    _ = Glibc.close(pipe.writeEnd)
    try? await pipe.channel.close()
  }

  /// Reports the time that a task used. At most one slice is counted, because the time may include waits of the task.
  public func use(_ time: Duration) { state.withLock { $0.used += min(time, slice) } }

  /// Pauses the task if the slice is used up. Returns true if the task paused.
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

  /// Resumes the paused tasks after the loop has polled its connections.
  private func resumeAfterPoll() {
    let writeEnd = state.withLock { $0.pipe?.writeEnd } ?? -1
    // At most one byte is in the pipe, so it is never full. If the pipe is closed, the tasks go on without a poll.
    if write(writeEnd, "w", 1) != 1 { loop.execute { self.begin() } }
  }

  /// Begins a new slice, and resumes the paused tasks.
  private func begin() {
    state.withLock { $0.used = .zero }
    resumeNext()
  }

  /// Resumes the first paused task. When it suspends again, the next one is resumed, until the slice is used up.
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
