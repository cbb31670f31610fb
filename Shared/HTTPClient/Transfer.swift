import CCurl

/// One request and its response, with its options for curl. It owns its curl handle and everything that the handle refers to, until
/// ``takeHandle()``. It must be used only on the client's thread.
final class Transfer {
  let handle: UnsafeMutableRawPointer
  private var ownsHandle = true
  let id: UInt64
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var connectList: UnsafeMutablePointer<curl_slist>?
  private let maxResponseBytes: Int
  private let isRepeatable: Bool
  /// The time at which the request's timeout ends.
  private let deadline: ContinuousClock.Instant
  private var wasResent = false
  private var continuation: CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>?
  fileprivate var body: [UInt8] = []
  fileprivate var headers: [(name: String, value: String)] = []
  /// True if the body was larger than `maxResponseBytes`.
  private var overflowed = false

  /// Nil if curl cannot create a handle.
  ///
  /// - Parameter used: a handle of an earlier request, for reuse.
  init?(
    id: UInt64, request: HTTPClientRequest, configuration: HTTPClientConfiguration, reusing used: UnsafeMutableRawPointer?,
    continuation: CheckedContinuation<Result<HTTPClientResponse, HTTPClientError>, Never>
  ) {
    guard let handle = used ?? curl_easy_init() else { return nil }
    self.handle = handle
    self.id = id
    self.continuation = continuation
    maxResponseBytes = request.maxResponseBytes
    isRepeatable = request.isRepeatable
    deadline = .now + request.timeout
    configure(request, configuration)
  }

  /// Gives away the handle, without any state of this request.
  func takeHandle() -> UnsafeMutableRawPointer {
    ownsHandle = false
    curl_easy_reset(handle)
    return handle
  }

  deinit {
    if ownsHandle { curl_easy_cleanup(handle) }
    curl_slist_free_all(headerList)
    curl_slist_free_all(connectList)
  }

  private func configure(_ request: HTTPClientRequest, _ configuration: HTTPClientConfiguration) {
    func long(_ option: CURLoption, _ value: Int) { _ = attribution_curl_set_long(handle, option, value) }
    func text(_ option: CURLoption, _ value: String) { _ = attribution_curl_set_text(handle, option, value) }
    text(CURLOPT_URL, request.url)
    text(CURLOPT_PROTOCOLS_STR, "http,https")
    // Redirects are not followed, because they would send tokens to unknown servers.
    long(CURLOPT_FOLLOWLOCATION, 0)
    long(CURLOPT_NOSIGNAL, 1)
    // Within about 5 s the system notices that a connection's peer has vanished, even if the connection is idle. Otherwise each request on
    // that connection would have to time out.
    long(CURLOPT_TCP_KEEPALIVE, 1)
    long(CURLOPT_TCP_KEEPIDLE, 3)
    long(CURLOPT_TCP_KEEPINTVL, 1)
    _ = attribution_curl_limit_silence(handle, 5000)
    long(CURLOPT_TCP_NODELAY, 1)
    long(CURLOPT_SSLVERSION, HTTPClientConfiguration.minTLSVersion)
    text(CURLOPT_PROXY, "")
    long(CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeout))
    long(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(min(configuration.connectTimeout, request.timeout)))
    // A new request waits for a connection that is being opened, if it may turn out to be HTTP/2.
    long(CURLOPT_PIPEWAIT, configuration.http2 ? 1 : 0)
    long(CURLOPT_FRESH_CONNECT, request.isRepeatable ? 0 : 1)
    long(CURLOPT_HTTP_VERSION, configuration.http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1)
    if let caFile = configuration.caFile { text(CURLOPT_CAINFO, caFile) }
    long(CURLOPT_CA_CACHE_TIMEOUT, Int(HTTPClientConfiguration.anchorLifetime.components.seconds))
    if !configuration.verifiesServer {
      long(CURLOPT_SSL_VERIFYPEER, 0)
      long(CURLOPT_SSL_VERIFYHOST, 0)
    }
    if let file = configuration.certificateFile { text(CURLOPT_SSLCERT, file) }
    if let file = configuration.keyFile { text(CURLOPT_SSLKEY, file) }
    if let connectTo = configuration.connectTo {
      connectList = curl_slist_append(nil, "::" + connectTo)
      _ = attribution_curl_set_pointer(handle, CURLOPT_CONNECT_TO, connectList)
    }
    text(CURLOPT_CUSTOMREQUEST, request.method)
    if let body = request.body {
      _ = body.withUnsafeBytes {
        attribution_curl_set_bytes(handle, $0.baseAddress ?? UnsafeRawPointer(handle), curl_off_t($0.count))
      }
    } else if request.method == "HEAD" {
      long(CURLOPT_NOBODY, 1)
    }
    // Empty headers remove curl's own: `Expect: 100-continue` for larger bodies, and a content type.
    for line in ["Expect:"]
      + (request.headers.contains { $0.0.lowercased() == "content-type" } ? [] : ["Content-Type:"])
    {
      headerList = curl_slist_append(headerList, line)
    }
    for (name, value) in request.headers {
      // A control character, such as a line break, could begin another header.
      let hasNoControls = { (part: String) in !part.utf8.contains { $0 < 0x20 && $0 != 9 || $0 == 0x7F } }
      guard hasNoControls(name), hasNoControls(value) else { continue }
      // curl sends an empty header only if its line ends with a semicolon.
      headerList = curl_slist_append(headerList, value.isEmpty ? "\(name);" : "\(name): \(value)")
    }
    _ = attribution_curl_set_pointer(handle, CURLOPT_HTTPHEADER, headerList)
    let own = Unmanaged.passUnretained(self).toOpaque()
    _ = attribution_curl_set_pointer(handle, CURLOPT_PRIVATE, own)
    _ = attribution_curl_set_pointer(handle, CURLOPT_WRITEDATA, own)
    _ = attribution_curl_set_pointer(handle, CURLOPT_HEADERDATA, own)
    _ = attribution_curl_set_callback(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, own in
      guard let bytes, let own else { return 0 }
      return Unmanaged<Transfer>.fromOpaque(own).takeUnretainedValue().receive(
        body: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
    _ = attribution_curl_set_callback(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, own in
      guard let bytes, let own else { return 0 }
      return Unmanaged<Transfer>.fromOpaque(own).takeUnretainedValue().receive(
        header: UnsafeRawBufferPointer(start: bytes, count: size * count))
    }
  }

  private static func milliseconds(_ duration: Duration) -> Int { max(1, Int(duration / .milliseconds(1))) }

  /// Prepares a second attempt and returns true, if a reused connection broke before the first byte of the response arrived. A server may
  /// close an idle connection at any time, and of several requests on it, curl itself resends only one. If a new connection breaks, or the
  /// connection of the second attempt, the caller gets the error.
  func prepareResend(after code: CURLcode) -> Bool {
    switch code {
    case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM: break
    default: return false
    }
    var connections = 0
    _ = attribution_curl_get_long(handle, CURLINFO_NUM_CONNECTS, &connections)
    let remaining = ContinuousClock.now.duration(to: deadline)
    guard isRepeatable, !wasResent, connections == 0, headers.isEmpty, body.isEmpty, remaining > .zero else { return false }
    wasResent = true
    _ = attribution_curl_set_long(handle, CURLOPT_TIMEOUT_MS, Self.milliseconds(remaining))
    return true
  }

  private func receive(body bytes: UnsafeRawBufferPointer) -> Int {
    guard body.count + bytes.count <= maxResponseBytes else {
      overflowed = true
      return 0
    }
    body.append(contentsOf: bytes)
    return bytes.count
  }

  private func receive(header bytes: UnsafeRawBufferPointer) -> Int {
    let line = String(decoding: bytes, as: UTF8.self)
    if line.hasPrefix("HTTP/") {
      // A status line begins a response. The headers of an interim response (1xx) are removed.
      headers.removeAll()
    } else if let colon = line.firstIndex(of: ":") {
      let value = line[line.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
      headers.append((String(line[..<colon]), String(value.prefix { !$0.isNewline })))
      if headers.count > 200 { return 0 }
    }
    return bytes.count
  }

  /// Resumes the caller with the response, or with the error of curl's code. Only the first call counts.
  func finish(_ code: CURLcode) {
    guard let continuation else { return }
    self.continuation = nil
    guard code == CURLE_OK else {
      continuation.resume(returning: .failure(error(code)))
      return
    }
    var status = 0
    var version = 0
    _ = attribution_curl_get_long(handle, CURLINFO_RESPONSE_CODE, &status)
    _ = attribution_curl_get_long(handle, CURLINFO_HTTP_VERSION, &version)
    continuation.resume(
      returning: .success(
        HTTPClientResponse(
          status: status, headers: headers, body: body, httpVersion: version == CURL_HTTP_VERSION_2_0 ? "2" : "1.1")))
  }

  func cancel() {
    continuation?.resume(returning: .failure(.cancelled))
    continuation = nil
  }

  private func error(_ code: CURLcode) -> HTTPClientError {
    overflowed ? .tooLarge(limit: maxResponseBytes) : HTTPClientError(code)
  }
}

extension HTTPClientError {
  /// The error for curl's code.
  init(_ code: CURLcode) {
    let reason = String(cString: curl_easy_strerror(code))
    self =
      switch code {
      case CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL: .badURL
      case CURLE_OPERATION_TIMEDOUT: .timedOut
      case CURLE_COULDNT_CONNECT, CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .couldNotConnect(reason)
      case CURLE_SSL_CONNECT_ERROR, CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER:
        .tls(reason)
      case CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2, CURLE_HTTP2_STREAM:
        .connectionReset(reason)
      default: .other(code: Int(code.rawValue), reason)
      }
  }
}
