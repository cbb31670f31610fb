import NIOCore
import NIOPosix

/// Defers work to the end of an event loop's turn, after all events of the turn were processed: first coalesced work, then flushes.
///
/// A send may wake a sleeping peer, which costs more than the send itself, so responses that are flushed together wake each peer once.
/// Under low load the turn is short and the delay negligible. Each event loop has one object, which is used only on that loop.
final class LoopTurnFlush {
  // Safe from any thread, because each thread has its own value.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopTurnFlush>()

  private let loop: any EventLoop
  private var isScheduled = false
  private var works: [any CoalescedWork] = []
  /// The closures that follow each work.
  private var followers: [() -> Void] = []
  private var unsent: [ChannelHandlerContext] = []

  init(loop: any EventLoop) { self.loop = loop }

  /// The object of the event loop on which this is called.
  static func current(_ loop: any EventLoop) -> LoopTurnFlush {
    loop.preconditionInEventLoop()
    if let turn = ofThread.currentValue { return turn }
    let turn = LoopTurnFlush(loop: loop)
    ofThread.currentValue = turn
    return turn
  }

  /// Flushes the connection at the end of the turn.
  func flush(_ context: ChannelHandlerContext) {
    unsent.append(context)
    schedule()
  }

  /// Performs the work at the end of the turn together with other work of its type, then calls the closure.
  func perform(_ work: any CoalescedWork, then follow: @escaping () -> Void) {
    works.append(work)
    followers.append(follow)
    schedule()
  }

  private func schedule() {
    guard !isScheduled else { return }
    isScheduled = true
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.run() }
  }

  private func run() {
    // A closure may process a pipelined request, which adds more work.
    while !works.isEmpty {
      let (works, followers) = (self.works, self.followers)
      self.works.removeAll(keepingCapacity: true)
      self.followers.removeAll(keepingCapacity: true)
      works.performCoalesced()
      for follow in followers { follow() }
    }
    let contexts = unsent
    unsent.removeAll(keepingCapacity: true)
    isScheduled = false
    for context in contexts { context.flush() }
  }
}
