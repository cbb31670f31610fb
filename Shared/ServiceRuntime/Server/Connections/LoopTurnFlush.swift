import NIOCore
import NIOPosix

/// What is put off to the end of an event loop's turn, when every event of the turn is looked at.
///
/// First the work that calls of one turn share, then the sending of what was written. Each send may wake a sleeping peer, which
/// costs more than the send: answers that leave together wake each peer once. When few connections have requests waiting the
/// turn is short, and nothing waits. One belongs to each event loop and is used on it alone.
final class LoopTurnFlush {
  // Safe from any thread by its nature: each sees its own value, which never leaves it.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopTurnFlush>()

  private let loop: any EventLoop
  private var isScheduled = false
  private var works: [any CoalescedWork] = []
  /// What follows each work.
  private var followers: [() -> Void] = []
  private var unsent: [ChannelHandlerContext] = []

  init(loop: any EventLoop) { self.loop = loop }

  /// That of the event loop that this is called on.
  static func current(_ loop: any EventLoop) -> LoopTurnFlush {
    loop.preconditionInEventLoop()
    if let turn = ofThread.currentValue { return turn }
    let turn = LoopTurnFlush(loop: loop)
    ofThread.currentValue = turn
    return turn
  }

  /// Flushes the connection.
  func flush(_ context: ChannelHandlerContext) {
    unsent.append(context)
    schedule()
  }

  /// Does the work together with its like, then what follows it.
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
    // A connection whose answer is written may have its next request at hand.
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
