import Glibc
import Synchronization

/// A small HTTP/1.1 server on loopback with one thread for each connection. The test decides how a request is answered.
public final class SmallServer: Sendable {
  public struct Request: Sendable {
    public var method: String
    public var path: String
    /// By name in lower case.
    public var headers: [String: String]
    public var body: [UInt8]
  }

  public enum Response: Sendable {
    /// These bytes; the connection is kept open.
    case bytes([UInt8])
    /// These bytes; then the connection is closed.
    case bytesThenClose([UInt8])
    /// These bytes; then a TCP reset.
    case bytesThenReset([UInt8])
    /// Nothing, until the client closes the connection.
    case silence

    public static func ok(_ body: String, headers: [String] = [], status: String = "200 OK") -> Response {
      let lines = ["HTTP/1.1 \(status)", "Content-Length: \(body.utf8.count)"] + headers
      return .bytes(Array((lines.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8))
    }
  }

  public let port: UInt16
  private let listener: Int32
  private let handler: @Sendable (Request) -> Response
  private let opened = Mutex(0)

  private let atOnce = Mutex((now: 0, most: 0))

  /// The maximum number of requests that were answered at the same time.
  public var mostAtOnce: Int { atOnce.withLock { $0.most } }
  /// The number of accepted connections.
  public var connections: Int { opened.withLock { $0 } }
  public var url: String { "http://127.0.0.1:\(port)" }

  public init(_ handler: @escaping @Sendable (Request) -> Response) {
    self.handler = handler
    signal(SIGPIPE, SIG_IGN)
    listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let listener = listener
    port = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
        precondition(bind(listener, raw, length) == 0 && listen(listener, 512) == 0, "no port to listen on")
        getsockname(listener, raw, &length)
      }
      return UInt16(bigEndian: $0.pointee.sin_port)
    }
    thread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else {
          close(listener)
          return
        }
        opened.withLock { $0 += 1 }
        thread { [self] in serve(connection) }
      }
    }
  }

  /// Accepts no further connections. The thread that accepts closes the descriptor: if it were closed here, the thread could accept
  /// connections of another server that got the same number.
  public func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

  private func thread(_ body: @escaping @Sendable () -> Void) {
    final class Box: Sendable {
      let body: @Sendable () -> Void
      init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var id = pthread_t()
    pthread_create(
      &id, nil,
      { raw in
        guard let raw else { return nil }
        Unmanaged<Box>.fromOpaque(raw).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(Box(body)).toOpaque())
    pthread_detach(id)
  }

  private func serve(_ connection: Int32) {
    defer { close(connection) }
    var input: [UInt8] = []
    while let request = read(connection, &input) {
      atOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      let response = handler(request)
      atOnce.withLock { $0.now -= 1 }
      switch response {
      case .bytes(let bytes): send(connection, bytes)
      case .bytesThenClose(let bytes):
        send(connection, bytes)
        return
      case .bytesThenReset(let bytes):
        send(connection, bytes)
        usleep(20_000)
        var now = linger(l_onoff: 1, l_linger: 0)
        setsockopt(connection, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
        return
      case .silence:
        var rest = [UInt8](repeating: 0, count: 1024)
        while recv(connection, &rest, rest.count, 0) > 0 {}
        return
      }
    }
  }

  private func send(_ connection: Int32, _ bytes: [UInt8]) {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      sent += count
    }
  }

  /// The next request; nil if the client has closed the connection.
  private func read(_ connection: Int32, _ input: inout [UInt8]) -> Request? {
    var chunk = [UInt8](repeating: 0, count: 65_536)
    func more() -> Bool {
      let count = recv(connection, &chunk, chunk.count, 0)
      guard count > 0 else { return false }
      input += chunk[0..<count]
      return true
    }
    func headEnd() -> Int? {
      guard input.count >= 4 else { return nil }
      return (0...(input.count - 4)).first { Array(input[$0..<($0 + 4)]) == [13, 10, 13, 10] }
    }
    var end = headEnd()
    while end == nil {
      guard more() else { return nil }
      end = headEnd()
    }
    guard let end else { return nil }
    let lines = String(decoding: input[0..<end], as: UTF8.self).split(separator: "\r\n").map(String.init)
    input.removeFirst(end + 4)
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      headers[line[..<colon].lowercased()] = String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    let length = Int(headers["content-length"] ?? "") ?? 0
    while input.count < length { guard more() else { return nil } }
    let body = Array(input[0..<length])
    input.removeFirst(length)
    let words = (lines.first ?? "").split(separator: " ").map(String.init)
    return Request(method: words.first ?? "", path: words.count > 1 ? words[1] : "", headers: headers, body: body)
  }
}
