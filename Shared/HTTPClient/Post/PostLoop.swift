import CCurl
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Posts to thousands of servers from one thread. A server that hangs costs the others nothing: there is no bound on connections to a host, and
/// a turn of the loop looks only at sockets on which something happened. Whoever posts bounds its own posts under way.
public final class PostLoop: Sendable {
  private let core: Core

  /// - Parameters:
  ///   - configuration: trust anchors, the time to connect in, and whether HTTP/2 is offered; nothing else of it is used.
  ///   - allows: whether an address, in 4 or 16 bytes of network order, may be connected to. It is asked on the loop's thread when the name was
  ///     resolved, for each address before the connection to it.
  public init(configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    core = Core(configuration: configuration, allows: allows)
    core.start()
  }

  deinit { core.stop() }

  /// Posts; redirects are answers. `done` is called once, on the loop's thread, which it must not hold up; it may post again.
  public func post(_ request: PostRequest, done: @escaping @Sendable (PostOutcome) -> Void) { core.submit(request, done) }

  /// Ends the thread; posts under way are cancelled.
  public func shutdown() { core.stop() }
}

/// The thread and what it shares with callers.
// `loop` but for its wake, `transfers` and `idle` are the thread's alone; the rest is behind the lock
private final class Core: @unchecked Sendable {
  private struct Inbox {
    var submitted: [(PostRequest, @Sendable (PostOutcome) -> Void)] = []
    var stopped = false
    /// The thread looks into the inbox before it waits again.
    var isAwake = true
  }

  private static let mostIdle = 1024
  /// Connections that are kept for the next post.
  private static let mostConnections = 4096
  private static let initialised: Void = { curl_global_init(Int(CURL_GLOBAL_ALL)) }()

  private let configuration: HTTPClientConfiguration
  private let allows: @Sendable ([UInt8]) -> Bool
  private let loop: OpaquePointer
  private let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  private var transfers: [UnsafeMutableRawPointer: PostTransfer] = [:]
  private var idle: [PostTransfer] = []

  init(configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    Self.initialised
    self.configuration = configuration
    self.allows = allows
    // There is none only where there is no memory, or no descriptor, at all.
    loop = attribution_post_loop_make()!
    multi = attribution_post_loop_multi(loop)!
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.maxStreamsPerConnection)
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.mostConnections)
  }

  deinit {
    // curl wants its handles to be gone before what they were in.
    idle.removeAll()
    attribution_post_loop_free(loop)
  }

  func start() {
    let own = Unmanaged.passRetained(self)
    var thread = pthread_t()
    let made = pthread_create(
      &thread, nil,
      { own in
        guard let own else { return nil }
        Unmanaged<Core>.fromOpaque(own).takeRetainedValue().run()
        return nil
      }, own.toOpaque())
    precondition(made == 0, "no thread to be had")
    pthread_detach(thread)
  }

  func submit(_ request: PostRequest, _ done: @escaping @Sendable (PostOutcome) -> Void) {
    let (refused, mustWake) = inbox.withLock { inbox in
      if inbox.stopped { return (true, false) }
      inbox.submitted.append((request, done))
      defer { inbox.isAwake = true }
      return (false, !inbox.isAwake)
    }
    if refused { return done(.failed(.cancelled)) }
    if mustWake { attribution_post_loop_wake(loop) }
  }

  func stop() {
    inbox.withLock { $0.stopped = true }
    attribution_post_loop_wake(loop)
  }

  private func run() {
    while takeIn() {
      attribution_post_loop_turn(loop)
      inbox.withLock { $0.isAwake = true }
      collect()
    }
    for transfer in transfers.values {
      curl_multi_remove_handle(multi, transfer.handle)
      transfer.cancel()
    }
    transfers.removeAll()
  }

  /// Begins new posts; false when the loop was stopped.
  private func takeIn() -> Bool {
    while true {
      let (submitted, stopped) = inbox.withLock { inbox in
        let taken = inbox.submitted
        inbox.submitted.removeAll()
        // What comes from now on has to end the wait.
        inbox.isAwake = !taken.isEmpty
        return (taken, inbox.stopped)
      }
      for (request, done) in submitted {
        guard !stopped, let transfer = idle.popLast() ?? PostTransfer(configuration, allows: allows) else {
          done(.failed(.cancelled))
          continue
        }
        transfer.prepare(request, done: done)
        transfers[transfer.handle] = transfer
        curl_multi_add_handle(multi, transfer.handle)
      }
      if stopped { return false }
      if submitted.isEmpty { return true }
    }
  }

  private func collect() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      guard let transfer = transfers[handle] else { continue }
      curl_multi_remove_handle(multi, handle)
      if transfer.isToBeSentAnew(code) {
        curl_multi_add_handle(multi, handle)
        continue
      }
      transfers.removeValue(forKey: handle)
      transfer.finish(code)
      if idle.count < Self.mostIdle { idle.append(transfer) }
    }
  }
}
