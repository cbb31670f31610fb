import CCurl

#if canImport(Glibc)
  import Glibc
#endif

/// Makes posts one after the other with one curl handle, and owns everything that the handle refers to. It must be used only on the loop's
/// thread. For each post: `prepare`, then `curl_multi_add_handle`, and at the end `finish`.
///
/// Options that are the same for all posts are set once, because setting them costs much compared with a small post.
final class PostTransfer {
  /// The greatest number of bytes of a response's body that are read. Only the status and `Retry-After` of a response are needed.
  private static let maxBodyBytes = 64 << 10
  /// The largest body of which curl keeps its copy until the next post. The copy of a larger body is freed after its post.
  private static let maxKeptBytes = 16 << 10

  let handle: UnsafeMutableRawPointer
  private let connectTimeout: Duration
  private let allows: @Sendable ([UInt8]) -> Bool
  private let headers = PostHeaders()
  /// The values of options that the handle has now, so that only changed ones are set.
  private var url = ""
  private var allowsHTTP: Bool?
  private var timeout: Duration?
  /// The time at which the post's timeout ends.
  private var deadline = ContinuousClock.now
  private var done: (@Sendable (PostOutcome) -> Void)?
  /// True if the request's body is larger than `maxKeptBytes`.
  private var isLarge = false
  /// The number of bytes of the response's body so far.
  private var bodyBytes = 0
  /// True if a connection to one of the host's addresses was not allowed.
  private var wasRefused = false
  private var wasResent = false

  /// - Parameter allows: returns true if a connection to an address is allowed. It has 4 or 16 bytes, and is empty for another address
  ///   family.
  init?(_ configuration: HTTPClientConfiguration, allows: @escaping @Sendable ([UInt8]) -> Bool) {
    guard let handle = curl_easy_init() else { return nil }
    self.handle = handle
    self.allows = allows
    connectTimeout = configuration.connectTimeout
    configure(configuration)
  }

  deinit { curl_easy_cleanup(handle) }

  private func set(_ option: CURLoption, _ value: Int) { _ = attribution_curl_set_long(handle, option, value) }
  private func set(_ option: CURLoption, _ value: String) { _ = attribution_curl_set_text(handle, option, value) }

  private func configure(_ configuration: HTTPClientConfiguration) {
    // `Transfer.configure` explains the options for redirects and keep-alive.
    set(CURLOPT_FOLLOWLOCATION, 0)
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_PROXY, "")
    set(CURLOPT_TCP_NODELAY, 1)
    set(CURLOPT_TCP_KEEPALIVE, 1)
    set(CURLOPT_TCP_KEEPIDLE, 3)
    set(CURLOPT_TCP_KEEPINTVL, 1)
    _ = attribution_curl_limit_silence(handle, 5000)
    set(CURLOPT_SSLVERSION, HTTPClientConfiguration.minTLSVersion)
    set(CURLOPT_HTTP_VERSION, configuration.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
    if let caFile = configuration.caFile { set(CURLOPT_CAINFO, caFile) }
    set(CURLOPT_CA_CACHE_TIMEOUT, Int(HTTPClientConfiguration.anchorLifetime.components.seconds))
    // curl allocates both buffers for each post. Freeing one of its default size of 64 KiB makes the allocator consolidate its free memory.
    set(CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
    set(CURLOPT_BUFFERSIZE, 8 << 10)
    let own = Unmanaged.passUnretained(self).toOpaque()
    _ = attribution_curl_set_pointer(handle, CURLOPT_WRITEDATA, own)
    _ = attribution_curl_set_callback(handle, CURLOPT_WRITEFUNCTION) { _, size, count, own in
      guard let own else { return 0 }
      return Unmanaged<PostTransfer>.fromOpaque(own).takeUnretainedValue().receive(bodyBytes: size * count)
    }
    _ = attribution_curl_set_socket_opener(
      handle,
      { own, _, address in
        guard let own, let address else { return CURL_SOCKET_BAD }
        return Unmanaged<PostTransfer>.fromOpaque(own).takeUnretainedValue().open(address)
      }, own)
  }

  /// Prepares the handle for a post, without starting it. The state of the previous post is removed.
  func prepare(_ request: PostRequest, done: @escaping @Sendable (PostOutcome) -> Void) {
    self.done = done
    bodyBytes = 0
    wasRefused = false
    wasResent = false
    if url != request.url {
      url = request.url
      set(CURLOPT_URL, url)
    }
    if allowsHTTP != request.allowsHTTP {
      allowsHTTP = request.allowsHTTP
      set(CURLOPT_PROTOCOLS_STR, request.allowsHTTP ? "http,https" : "https")
    }
    deadline = .now + request.timeout
    if timeout != request.timeout {
      timeout = request.timeout
      set(CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeout))
      set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(min(connectTimeout, request.timeout)))
    }
    isLarge = request.body.count > Self.maxKeptBytes
    _ = request.body.withUnsafeBytes {
      attribution_curl_set_bytes(handle, $0.baseAddress ?? UnsafeRawPointer(handle), curl_off_t($0.count))
    }
    _ = attribution_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headers.list(request.headers))
  }

  private static func milliseconds(_ duration: Duration) -> Int { max(1, Int(duration / .milliseconds(1))) }

  /// Opens a socket, if the address is allowed. The address of the connection itself is checked, so that a name cannot resolve to another
  /// address after the check.
  private func open(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
    let start = UnsafeRawPointer(address) + MemoryLayout<curl_sockaddr>.offset(of: \.addr)!
    let bytes: [UInt8]
    switch address.pointee.family {
    case AF_INET: bytes = Array(UnsafeRawBufferPointer(start: start + MemoryLayout<sockaddr_in>.offset(of: \.sin_addr)!, count: 4))
    case AF_INET6: bytes = Array(UnsafeRawBufferPointer(start: start + MemoryLayout<sockaddr_in6>.offset(of: \.sin6_addr)!, count: 16))
    default: bytes = []
    }
    guard allows(bytes) else {
      wasRefused = true
      return CURL_SOCKET_BAD
    }
    return socket(address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
  }

  private func receive(bodyBytes count: Int) -> Int {
    bodyBytes += count
    return bodyBytes <= Self.maxBodyBytes ? count : 0
  }

  /// The status of the last response; 0 if there is none.
  private var status: Int {
    var status = 0
    _ = attribution_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    return status
  }

  /// The value of a header of the last response, at most 64 characters.
  private func header(_ name: String) -> String? {
    var found: UnsafeMutablePointer<curl_header>?
    guard curl_easy_header(handle, name, 0, UInt32(CURLH_HEADER), -1, &found) == CURLHE_OK, let value = found?.pointee.value else {
      return nil
    }
    return String(String(cString: value).prefix(64))
  }

  /// Prepares a second attempt and returns true, if a reused connection broke before the first byte of the response arrived. A server may
  /// close an idle connection at any time.
  func prepareResend(after code: CURLcode) -> Bool {
    switch code {
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM: break
    default: return false
    }
    var connections = 0
    _ = attribution_curl_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
    let remaining = ContinuousClock.now.duration(to: deadline)
    guard !wasResent, connections == 0, status == 0, remaining > .zero else { return false }
    wasResent = true
    set(CURLOPT_TIMEOUT_MS, Self.milliseconds(remaining))
    // The handle has another timeout now, which the next post must replace.
    timeout = nil
    return true
  }

  /// Reports the outcome for curl's code.
  func finish(_ code: CURLcode) {
    // `receive` ends a transfer with a long body, whose status has been received by then.
    if code == CURLE_OK || code == CURLE_WRITE_ERROR && bodyBytes > Self.maxBodyBytes {
      let status = status
      return end(with: .answered(status: status, retryAfter: (200..<300).contains(status) ? nil : header("Retry-After")))
    }
    if wasRefused, code == CURLE_COULDNT_CONNECT { return end(with: .addressRefused) }
    end(with: .failed(HTTPClientError(code)))
  }

  func cancel() { end(with: .failed(.cancelled)) }

  private func end(with outcome: PostOutcome) {
    if isLarge { _ = attribution_curl_set_pointer(handle, CURLOPT_COPYPOSTFIELDS, nil) }
    let done = done
    self.done = nil
    done?(outcome)
  }
}
