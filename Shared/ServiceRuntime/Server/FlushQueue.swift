import NIOCore
import NIOPosix

/// Sends what was written during one turn of an event loop at the end of the turn.
///
/// Each send may wake a sleeping peer, which costs more than the send. When many connections have requests waiting, answers
/// that leave together wake each peer once; when few have, the turn is short and nothing waits. One belongs to each event
/// loop and is used on it alone.
final class FlushQueue {
  // Safe from any thread by its nature: each sees its own value, which never leaves it.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<FlushQueue>()

  private let loop: any EventLoop
  private var waiting: [ChannelHandlerContext] = []

  init(loop: any EventLoop) { self.loop = loop }

  /// The queue of the event loop that this is called on.
  static func current(_ loop: any EventLoop) -> FlushQueue {
    loop.preconditionInEventLoop()
    if let queue = ofThread.currentValue { return queue }
    let queue = FlushQueue(loop: loop)
    ofThread.currentValue = queue
    return queue
  }

  /// Flushes the connection when every event of this turn is looked at.
  func add(_ context: ChannelHandlerContext) {
    if waiting.isEmpty {
      let bound = NIOLoopBound(self, eventLoop: loop)
      loop.execute { bound.value.flush() }
    }
    waiting.append(context)
  }

  private func flush() {
    let contexts = waiting
    waiting.removeAll(keepingCapacity: true)
    for context in contexts { context.flush() }
  }
}
