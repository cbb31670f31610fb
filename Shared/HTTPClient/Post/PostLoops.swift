import Synchronization

/// Posts from several threads: one alone is busy with some ten thousand posts a second.
public final class PostLoops: Sendable {
  private let loops: [PostLoop]
  private let turn = Atomic(0)

  /// - Parameters:
  ///   - count: threads, 1 or more.
  ///   - configuration: trust anchors, the time to connect in, and whether HTTP/2 is offered.
  ///   - allows: whether an address, in 4 or 16 bytes of network order, may be connected to (``PostLoop``).
  public init(count: Int, configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    loops = (0..<max(1, count)).map { _ in PostLoop(configuration: configuration, allows: allows) }
  }

  /// Posts; redirects are answers.
  ///
  /// - Parameters:
  ///   - thread: which of the threads posts: from `done` of another post, the one that was told there, which is awake; nil: each in turn.
  ///   - done: called once, with the thread on which it is called. It must not hold that up; it may post again.
  public func post(_ request: PostRequest, on thread: Int?, done: @escaping @Sendable (_ outcome: PostOutcome, _ thread: Int) -> Void) {
    let thread = thread ?? Int(UInt(bitPattern: turn.wrappingAdd(1, ordering: .relaxed).newValue) % UInt(loops.count))
    loops[thread].post(request) { done($0, thread) }
  }

  /// Ends the threads; posts under way are cancelled.
  public func shutdown() { for loop in loops { loop.shutdown() } }
}
