import NIOCore
import NIOPosix

/// Defers work to the end of an event loop's turn (NIO calls it a tick), after all events of the turn were processed: first coalesced work,
/// then flushes.
///
/// A send may wake a sleeping peer, which costs more than the send itself, so responses that are flushed together wake each peer once.
/// Under low load a turn is short and the delay negligible. Each event loop has one object, which is used only on that loop.
final class LoopTurnFlush {
  // Safe from any thread, because each thread has a value of its own.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopTurnFlush>()

  private let loop: any EventLoop
  private var isScheduled = false
  private var works: [any CoalescedWork] = []
  /// For each element of ``works``, the closure that is called after it.
  private var completions: [() -> Void] = []
  /// The connections with data that was written and not flushed.
  private var unflushed: [ChannelHandlerContext] = []

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
    unflushed.append(context)
    schedule()
  }

  /// Performs the work at the end of the turn, together with other work of its type, and then calls the closure.
  func perform(_ work: any CoalescedWork, then completion: @escaping () -> Void) {
    works.append(work)
    completions.append(completion)
    schedule()
  }

  private func schedule() {
    guard !isScheduled else { return }
    isScheduled = true
    // The loop runs the closure after everything that is already queued for this turn.
    let bound = NIOLoopBound(self, eventLoop: loop)
    loop.execute { bound.value.run() }
  }

  private func run() {
    // A completion may process the next request of its connection, which may add more work.
    while !works.isEmpty {
      let (works, completions) = (self.works, self.completions)
      self.works.removeAll(keepingCapacity: true)
      self.completions.removeAll(keepingCapacity: true)
      works.performCoalesced()
      for completion in completions { completion() }
    }
    let contexts = unflushed
    unflushed.removeAll(keepingCapacity: true)
    isScheduled = false
    for context in contexts { context.flush() }
  }
}
