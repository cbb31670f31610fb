import CCurl
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// An HTTP client over libcurl's multi interface. All requests share one thread and its persistent connections, with HTTP/2 multiplexing.
///
/// ```swift
/// let client = HTTPClient()
/// let response = try await client.send(HTTPClientRequest(method: "GET", url: "https://example.com/"))
/// ```
///
/// `Transfer.swift` has the options and limits of a request. ``PostLoop`` is for posts to thousands of servers.
public final class HTTPClient: Sendable {
  private let core: Core
  private let observer: (any HTTPRequestObserver)?

  public init(configuration: HTTPClientConfiguration = HTTPClientConfiguration()) {
    observer = configuration.observer
    core = Core(configuration: configuration)
    core.start()
  }

  deinit { core.stop() }

  /// Sends a request and returns the whole response, whatever its status. Redirects are not followed. If the task is cancelled, the request
  /// is cancelled too.
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

  /// Ends the thread. Requests in flight, and all later ones, fail as cancelled.
  public func shutdown() { core.stop() }
}

/// The thread, and the state that it shares with callers.
///
/// `@unchecked Sendable`: only the thread uses `multi`, `transfers` and `idle`, except that any thread may call `curl_multi_wakeup`. All
/// other variables are behind the lock.
private final class Core: @unchecked Sendable {
  typealias Caller = CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>

  private struct Inbox {
    var nextID: UInt64 = 0
    /// New requests with their ids.
    var submitted: [(UInt64, HTTPClientRequest, Caller)] = []
    /// The ids of cancelled requests.
    var cancelled: [UInt64] = []
    /// The ids of cancelled requests that may not be submitted yet.
    var cancelledEarly: Set<UInt64> = []
    var stopped = false
  }

  private let configuration: HTTPClientConfiguration
  private let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  private var transfers: [UInt64: Transfer] = [:]
  /// Handles of finished requests, for reuse.
  private var idle: [UnsafeMutableRawPointer] = []
  private static let maxIdle = 256

  private static let initialised: Void = { curl_global_init(Int(CURL_GLOBAL_ALL)) }()

  init(configuration: HTTPClientConfiguration) {
    Self.initialised
    self.configuration = configuration
    // Returns nil only if there is no memory.
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

  func nextID() -> UInt64 {
    inbox.withLock { inbox in
      inbox.nextID += 1
      return inbox.nextID
    }
  }

  func submit(_ id: UInt64, _ request: HTTPClientRequest, _ caller: Caller) {
    let (refused, isFirst) = inbox.withLock { inbox in
      if inbox.stopped || inbox.cancelledEarly.remove(id) != nil { return (true, false) }
      inbox.submitted.append((id, request, caller))
      return (false, inbox.submitted.count == 1)
    }
    if refused {
      caller.resume(returning: .failure(.cancelled))
    } else if isFirst {
      // One wake-up is enough for all requests in the inbox, so only the first one wakes the thread.
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
    while processInbox() {
      var running: Int32 = 0
      curl_multi_perform(multi, &running)
      finishTransfers()
      curl_multi_poll(multi, nil, 0, 1000, nil)
    }
    for transfer in transfers.values {
      curl_multi_remove_handle(multi, transfer.handle)
      transfer.cancel()
    }
    transfers.removeAll()
  }

  /// Starts new requests and ends cancelled ones. Returns false if the client was stopped.
  private func processInbox() -> Bool {
    let (submitted, cancelled, stopped) = inbox.withLock { inbox in
      let contents = (inbox.submitted, inbox.cancelled, inbox.stopped)
      inbox.submitted.removeAll()
      inbox.cancelled.removeAll()
      // A submitted request can no longer be cancelled early.
      for (id, _, _) in contents.0 { inbox.cancelledEarly.remove(id) }
      for id in contents.1 where transfers[id] != nil { inbox.cancelledEarly.remove(id) }
      // The ids of requests that were cancelled after their end stay in the set, so its size is limited.
      if inbox.cancelledEarly.count > 10_000 { inbox.cancelledEarly.removeAll() }
      return contents
    }
    for (id, request, caller) in submitted {
      guard !stopped,
        let transfer = Transfer(
          id: id, request: request, configuration: configuration, reusing: idle.popLast(), continuation: caller)
      else {
        caller.resume(returning: .failure(.cancelled))
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

  /// Reports the results of finished requests to their callers.
  private func finishTransfers() {
    var remaining: Int32 = 0
    while let message = curl_multi_info_read(multi, &remaining) {
      guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle else { continue }
      let code = message.pointee.data.result
      var own: UnsafeMutableRawPointer?
      _ = attribution_curl_get_pointer(handle, CURLINFO_PRIVATE, &own)
      guard let own else { continue }
      let transfer = Unmanaged<Transfer>.fromOpaque(own).takeUnretainedValue()
      curl_multi_remove_handle(multi, handle)
      if transfer.prepareResend(after: code) {
        curl_multi_add_handle(multi, handle)
        continue
      }
      transfer.finish(code)
      transfers.removeValue(forKey: transfer.id)
      if idle.count < Self.maxIdle { idle.append(transfer.takeHandle()) }
    }
  }
}
