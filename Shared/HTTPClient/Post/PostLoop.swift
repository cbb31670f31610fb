import CCurl
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// Posts to thousands of servers from one thread. A server that hangs does not delay the others: the number of connections is not limited,
/// and each turn of the loop handles only sockets with events. Callers must limit their own posts in flight. `PostTransfer.swift` has the
/// options of a post, and `CCurl/post_loop.c` the loop.
public final class PostLoop: Sendable {
  private let core: Core

  /// - Parameters:
  ///   - configuration: only the trust anchors, the connect timeout and the setting of HTTP/2 are used.
  ///   - allows: returns true if a connection to an address, in 4 or 16 bytes of network order, is allowed. It is called on the loop's
  ///     thread after name resolution, before each connection.
  public init(configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    core = Core(configuration: configuration, allows: allows)
    core.start()
  }

  deinit { core.stop() }

  /// Posts a request. Redirects are not followed. `done` is called once, on the loop's thread. It must not block the thread, and may post
  /// again.
  public func post(_ request: PostRequest, done: @escaping @Sendable (PostOutcome) -> Void) { core.submit(request, done) }

  /// Ends the thread. Posts in flight, and all later ones, fail as cancelled.
  public func shutdown() { core.stop() }
}

/// The thread, and the state that it shares with callers.
// Safe to share: only the thread uses `loop` (except for its wake-up), `transfers` and `idle`. The rest is protected by the lock.
private final class Core: @unchecked Sendable {
  private struct Inbox {
    var submitted: [(PostRequest, @Sendable (PostOutcome) -> Void)] = []
    var stopped = false
    /// True if the thread will check the inbox before it waits.
    var isAwake = true
  }

  /// The greatest number of finished transfers that are kept for reuse.
  private static let maxIdle = 1024
  /// The greatest number of idle connections.
  private static let maxIdleConnections = 4096
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
    // Returns nil only if there is no memory or no descriptor.
    loop = attribution_post_loop_make()!
    multi = attribution_post_loop_multi(loop)!
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, HTTPClientConfiguration.maxStreamsPerConnection)
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.maxIdleConnections)
  }

  deinit {
    // curl requires handles to be freed before their multi handle.
    idle.removeAll()
    attribution_post_loop_free(loop)
  }

  func start() {
    let own = Unmanaged.passRetained(self)
    var thread = pthread_t()
    let code = pthread_create(
      &thread, nil,
      { own in
        guard let own else { return nil }
        Unmanaged<Core>.fromOpaque(own).takeRetainedValue().run()
        return nil
      }, own.toOpaque())
    precondition(code == 0, "no thread could be started")
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
    while processInbox() {
      attribution_post_loop_turn(loop)
      inbox.withLock { $0.isAwake = true }
      finishTransfers()
    }
    for transfer in transfers.values {
      curl_multi_remove_handle(multi, transfer.handle)
      transfer.cancel()
    }
    transfers.removeAll()
  }

  /// Starts new posts, until there are no more. Returns false if the loop was stopped.
  private func processInbox() -> Bool {
    while true {
      let (submitted, stopped) = inbox.withLock { inbox in
        let submitted = inbox.submitted
        inbox.submitted.removeAll()
        // If the inbox is empty, the thread is about to wait, so the next post must wake it.
        inbox.isAwake = !submitted.isEmpty
        return (submitted, inbox.stopped)
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

  /// Reports the outcomes of finished posts.
  private func finishTransfers() {
    var remaining: Int32 = 0
    while let message = curl_multi_info_read(multi, &remaining) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      guard let transfer = transfers[handle] else { continue }
      curl_multi_remove_handle(multi, handle)
      if transfer.prepareResend(after: code) {
        curl_multi_add_handle(multi, handle)
        continue
      }
      transfers.removeValue(forKey: handle)
      transfer.finish(code)
      if idle.count < Self.maxIdle { idle.append(transfer) }
    }
  }
}
