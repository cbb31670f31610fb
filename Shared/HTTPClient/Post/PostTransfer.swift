import CCurl

#if canImport(Glibc)
  import Glibc
#endif

/// One post: owns its curl handle and all that the handle points to, until the handle is taken back. Belongs to the loop's thread.
final class PostTransfer {
  /// Of an answer's body nothing is read beyond this: only its status counts.
  private static let mostOfBody = 64 << 10

  let handle: UnsafeMutableRawPointer
  private var ownsHandle = true
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private let allows: @Sendable ([UInt8]) -> Bool
  private let end: ContinuousClock.Instant
  private var done: (@Sendable (PostOutcome) -> Void)?
  private var status = 0
  private var retryAfter: String?
  private var bodyBytes = 0
  private var wasRefused = false
  private var wasSentAnew = false

  /// - Parameters:
  ///   - used: a handle of an earlier post, which saves making one.
  ///   - allows: whether an address, of 4 or 16 bytes, may be connected to.
  init?(
    _ request: PostRequest, _ configuration: HTTPClientConfiguration, used: UnsafeMutableRawPointer?,
    allows: @escaping @Sendable ([UInt8]) -> Bool, done: @escaping @Sendable (PostOutcome) -> Void
  ) {
    guard let handle = used ?? curl_easy_init() else { return nil }
    self.handle = handle
    self.allows = allows
    self.done = done
    end = .now + request.timeout
    configure(request, configuration)
  }

  deinit {
    if ownsHandle { curl_easy_cleanup(handle) }
    curl_slist_free_all(headerList)
  }

  /// Gives up the handle, with nothing of this post in it.
  func takeHandle() -> UnsafeMutableRawPointer {
    ownsHandle = false
    curl_easy_reset(handle)
    return handle
  }

  private func configure(_ request: PostRequest, _ configuration: HTTPClientConfiguration) {
    func long(_ option: CURLoption, _ value: Int) { _ = attribution_curl_set_long(handle, option, value) }
    func text(_ option: CURLoption, _ value: String) { _ = attribution_curl_set_text(handle, option, value) }
    text(CURLOPT_URL, request.url)
    text(CURLOPT_PROTOCOLS_STR, request.allowsHTTP ? "http,https" : "https")
    long(CURLOPT_FOLLOWLOCATION, 0)
    long(CURLOPT_NOSIGNAL, 1)
    text(CURLOPT_PROXY, "")
    long(CURLOPT_TCP_NODELAY, 1)
    long(CURLOPT_TCP_KEEPALIVE, 1)
    long(CURLOPT_TCP_KEEPIDLE, 3)
    long(CURLOPT_TCP_KEEPINTVL, 1)
    _ = attribution_curl_limit_silence(handle, 5000)
    long(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
    long(CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeout))
    long(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(min(configuration.connectTimeout, request.timeout)))
    long(CURLOPT_HTTP_VERSION, configuration.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
    if let caFile = configuration.caFile { text(CURLOPT_CAINFO, caFile) }
    long(CURLOPT_CA_CACHE_TIMEOUT, Int(configuration.anchorLifetime.components.seconds))
    _ = request.body.withUnsafeBytes {
      attribution_curl_set_bytes(handle, $0.baseAddress ?? UnsafeRawPointer(handle), curl_off_t($0.count))
    }
    // curl would ask the server's leave before larger bodies, and name a content type of its own.
    headerList = curl_slist_append(nil, "Expect:")
    if !request.headers.contains(where: { $0.name.lowercased() == "content-type" }) {
      headerList = curl_slist_append(headerList, "Content-Type:")
    }
    for (name, value) in request.headers {
      headerList = curl_slist_append(headerList, value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    _ = attribution_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headerList)
    let own = Unmanaged.passUnretained(self).toOpaque()
    _ = attribution_curl_set_pointer(handle, CURLOPT_PRIVATE, own)
    _ = attribution_curl_set_pointer(handle, CURLOPT_WRITEDATA, own)
    _ = attribution_curl_set_pointer(handle, CURLOPT_HEADERDATA, own)
    _ = attribution_curl_set_callback(handle, CURLOPT_WRITEFUNCTION) { _, size, count, own in
      guard let own else { return 0 }
      return Unmanaged<PostTransfer>.fromOpaque(own).takeUnretainedValue().receive(bodyBytes: size * count)
    }
    _ = attribution_curl_set_callback(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, own in
      guard let bytes, let own else { return 0 }
      return Unmanaged<PostTransfer>.fromOpaque(own).takeUnretainedValue().receive(
        header: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    _ = attribution_curl_set_socket_opener(
      handle,
      { own, _, address in
        guard let own, let address else { return CURL_SOCKET_BAD }
        return Unmanaged<PostTransfer>.fromOpaque(own).takeUnretainedValue().open(address)
      }, own)
  }

  private static func milliseconds(_ duration: Duration) -> Int { max(1, Int(duration / .milliseconds(1))) }

  /// Judges the very address that is connected to next: a name that stands for another one a moment later gains nothing by it.
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
    return bodyBytes <= Self.mostOfBody ? count : 0
  }

  private func receive(header bytes: UnsafeRawBufferPointer) -> Int {
    if bytes.starts(with: "HTTP/".utf8) {
      status = String(decoding: bytes, as: UTF8.self).split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      retryAfter = nil
    } else if bytes.count > 12, bytes[0] | 0x20 == UInt8(ascii: "r") {
      let line = String(decoding: bytes, as: UTF8.self)
      guard line.lowercased().hasPrefix("retry-after:") else { return bytes.count }
      retryAfter = String(line.dropFirst("retry-after:".count).prefix { !$0.isNewline }.prefix(64))
    }
    return bytes.count
  }

  /// Whether a connection that had been kept open broke before anything of the answer came: a server may close at any moment what was idle.
  func isToBeSentAnew(_ code: CURLcode) -> Bool {
    switch code {
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_HTTP2, CURLE_HTTP2_STREAM: break
    default: return false
    }
    var connections = 0
    _ = attribution_curl_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
    let left = ContinuousClock.now.duration(to: end)
    guard !wasSentAnew, connections == 0, status == 0, left > .zero else { return false }
    wasSentAnew = true
    _ = attribution_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Self.milliseconds(left))
    return true
  }

  /// Tells what became of it, once.
  func finish(_ code: CURLcode) {
    // An endless body was cut off by us: its status was told before.
    if code == CURLE_OK || code == CURLE_WRITE_ERROR && bodyBytes > Self.mostOfBody {
      return end(with: .answered(status: status, retryAfter: retryAfter))
    }
    if wasRefused, code == CURLE_COULDNT_CONNECT { return end(with: .addressRefused) }
    end(with: .failed(HTTPClientError(code)))
  }

  func cancel() { end(with: .failed(.cancelled)) }

  private func end(with outcome: PostOutcome) {
    done?(outcome)
    done = nil
  }
}
