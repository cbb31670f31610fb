import CCurl
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// An HTTP client over libcurl's multi interface: one thread, shared persistent connections, HTTP/2 multiplexing.
public final class HTTPClient: Sendable {
  private let core: Core
  private let observer: (any HTTPRequestObserver)?

  public init(configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
    observer = configuration.observer
    core = Core(configuration: configuration)
    core.start()
  }

  deinit { core.stop() }

  /// Sends a request and returns the whole response, whatever its status. Redirects are not followed.
  public func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    guard let observed = observer?.begin(request) else { return try await exchange(request) }
    do throws(HTTPClientError) {
      let response = try await exchange(request.replacing(traceparent: observed.traceparent))
      observed.end(.success(response))
      return response
    } catch {
      observed.end(.failure(error))
      throw error
    }
  }

  private func exchange(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    let core = core
    let id = core.nextID()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { core.submit(id, request, $0) }
    } onCancel: {
      core.cancel(id)
    }
    return try result.get()
  }

  /// Ends the thread. Requests in flight are cancelled.
  public func shutdown() { core.stop() }
}

/// The thread, and the state that it shares with callers.
///
/// `@unchecked Sendable`: only the thread uses `multi`, `transfers` and `idle`, except that any thread may call `curl_multi_wakeup`. All
/// other variables are behind the lock.
private final class Core: @unchecked Sendable {
  typealias Waiting = CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>

  private struct Inbox {
    var nextID: UInt64 = 0
    var submitted: [(UInt64, HTTPClientRequest, Waiting)] = []
    var cancelled: [UInt64] = []
    /// Requests that were cancelled before they were submitted.
    var cancelledEarly: Set<UInt64> = []
    var stopped = false
  }

  private let configuration: HTTPClientConfiguration
  private let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  private var transfers: [UInt64: Transfer] = [:]
  /// Handles for reuse.
  private var idle: [UnsafeMutableRawPointer] = []
  private static let maxIdle = 256

  private static let initialised: Void = { curl_global_init(Int(CURL_GLOBAL_ALL)) }()

  init(configuration: HTTPClientConfiguration) {
    Self.initialised
    self.configuration = configuration
    // This fails only without memory.
    multi = curl_multi_init()!
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maxConnectionsPerHost)
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    _ = attribution_curl_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, HTTPClientConfiguration.maxStreamsPerConnection)
  }

  deinit {
    for handle in idle { curl_easy_cleanup(handle) }
    curl_multi_cleanup(multi)
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
    precondition(made == 0, "no thread could be started")
    pthread_detach(thread)
  }

  func nextID() -> UInt64 {
    inbox.withLock { inbox in
      inbox.nextID += 1
      return inbox.nextID
    }
  }

  func submit(_ id: UInt64, _ request: HTTPClientRequest, _ waiting: Waiting) {
    let (refused, isFirst) = inbox.withLock { inbox in
      if inbox.stopped || inbox.cancelledEarly.remove(id) != nil { return (true, false) }
      inbox.submitted.append((id, request, waiting))
      return (false, inbox.submitted.count == 1)
    }
    if refused {
      waiting.resume(returning: .failure(.cancelled))
    } else if isFirst {
      // One wake-up is enough for all requests in the inbox.
      curl_multi_wakeup(multi)
    }
  }

  func cancel(_ id: UInt64) {
    inbox.withLock { inbox in
      inbox.cancelled.append(id)
      inbox.cancelledEarly.insert(id)
    }
    curl_multi_wakeup(multi)
  }

  func stop() {
    inbox.withLock { $0.stopped = true }
    curl_multi_wakeup(multi)
  }

  private func run() {
    while takeIn() {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      collect()
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
    for transfer in transfers.values {
      curl_multi_remove_handle(multi, transfer.handle)
      transfer.cancel()
    }
    transfers.removeAll()
  }

  /// Takes new and cancelled requests from the inbox. Returns false if the client was stopped.
  private func takeIn() -> Bool {
    let (submitted, cancelled, stopped) = inbox.withLock { inbox in
      let taken = (inbox.submitted, inbox.cancelled, inbox.stopped)
      inbox.submitted.removeAll()
      inbox.cancelled.removeAll()
      // Submitted requests no longer need a record of early cancellation.
      for (id, _, _) in taken.0 { inbox.cancelledEarly.remove(id) }
      for id in taken.1 where transfers[id] != nil { inbox.cancelledEarly.remove(id) }
      if inbox.cancelledEarly.count > 10_000 { inbox.cancelledEarly.removeAll() }
      return taken
    }
    for (id, request, waiting) in submitted {
      guard !stopped,
        let transfer = Transfer(
          id: id, request: request, configuration: configuration, used: idle.popLast(), continuation: waiting)
      else {
        waiting.resume(returning: .failure(.cancelled))
        continue
      }
      transfers[id] = transfer
      curl_multi_add_handle(multi, transfer.handle)
    }
    for id in cancelled {
      guard let transfer = transfers.removeValue(forKey: id) else { continue }
      curl_multi_remove_handle(multi, transfer.handle)
      transfer.cancel()
    }
    return !stopped
  }

  private func collect() {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      var own: UnsafeMutableRawPointer?
      _ = attribution_curl_get_pointer(handle, CURLINFO_PRIVATE, &own)
      guard let own else { continue }
      let transfer = Unmanaged<Transfer>.fromOpaque(own).takeUnretainedValue()
      curl_multi_remove_handle(multi, handle)
      if transfer.mustResend(code) {
        curl_multi_add_handle(multi, handle)
        continue
      }
      transfer.finish(code)
      transfers.removeValue(forKey: transfer.id)
      if idle.count < Self.maxIdle { idle.append(transfer.takeHandle()) }
    }
  }
}
