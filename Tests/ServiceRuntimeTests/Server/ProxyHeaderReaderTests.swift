import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import ServiceRuntime

@Suite struct ProxyHeaderReaderTests {
  private let refusals = Counter()
  private let line = "PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\r\n"

  private final class Counter: Sendable {
    private let count = Mutex(0)
    var value: Int { count.withLock { $0 } }
    func add() { count.withLock { $0 += 1 } }
  }

  private func connection(
    limit: Int = 2048, admits: @escaping (ProxyHeader.Origin) -> Bool = { _ in true }
  ) throws -> (EmbeddedChannel, ProxyHeaderReader) {
    let reader = ProxyHeaderReader(limit: limit, timeLimit: .seconds(10), admits: admits) { [refusals] in refusals.add() }
    let channel = EmbeddedChannel()
    try channel.pipeline.syncOperations.addHandler(reader)
    channel.connect(to: try SocketAddress(ipAddress: "10.0.0.1", port: 1), promise: nil)
    return (channel, reader)
  }

  private func received(_ channel: EmbeddedChannel) throws -> String {
    var text = ""
    while let buffer = try channel.readInbound(as: ByteBuffer.self) { text += String(buffer: buffer) }
    return text
  }

  @Test func `The bytes after the header are passed on, and the header is not`() throws {
    let (channel, reader) = try connection()
    try channel.writeInbound(ByteBuffer(string: line + "GET / "))
    try channel.writeInbound(ByteBuffer(string: "HTTP/1.1\r\n"))
    #expect(try received(channel) == "GET / HTTP/1.1\r\n")
    #expect(reader.origin == .client(try IPAddress(validating: "192.0.2.1")))
    // A second header is data of the client.
    try channel.writeInbound(ByteBuffer(string: "PROXY UNKNOWN\r\n"))
    #expect(try received(channel) == "PROXY UNKNOWN\r\n" && channel.isActive && refusals.value == 0)
  }

  @Test func `A connection from a refused origin is closed, and none of its bytes are passed on`() throws {
    for isAdmitted in [true, false] {
      let (channel, _) = try connection { $0 == .unknown || isAdmitted }
      try channel.writeInbound(ByteBuffer(string: line + "GET / "))
      channel.embeddedEventLoop.run()
      #expect(channel.isActive == isAdmitted)
      let through = try received(channel)
      #expect(through == (isAdmitted ? "GET / " : "") && refusals.value == 0)
    }
  }

  @Test func `A header may arrive byte by byte, and nothing is passed on before its end`() throws {
    let (channel, reader) = try connection()
    for byte in line.utf8.dropLast() {
      try channel.writeInbound(ByteBuffer(bytes: [byte]))
      #expect(reader.origin == nil)
    }
    #expect(try received(channel) == "")
    try channel.writeInbound(ByteBuffer(string: "\nX"))
    #expect(try received(channel) == "X")
    channel.embeddedEventLoop.advanceTime(by: .seconds(20))
    #expect(channel.isActive && refusals.value == 0)
  }

  @Test(arguments: ["GET / HTTP/1.1\r\n\r\n", "PROXY TCP4 1.2.3.4\r\n", "\r\n\r\n\u{0}\r\nQUIT\n\u{31}\u{11}\u{0}\u{0}"])
  func `An invalid header closes the connection, and none of its bytes are passed on`(_ text: String) throws {
    let (channel, reader) = try connection()
    _ = try? channel.writeInbound(ByteBuffer(string: text))
    #expect(!channel.isActive && reader.origin == nil && refusals.value == 1)
    #expect(try received(channel) == "")
  }

  @Test func `A header longer than the limit ends the connection`() throws {
    let (channel, _) = try connection(limit: 200)
    let start: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10, 0x21, 0x11, 0, 185]
    _ = try? channel.writeInbound(ByteBuffer(bytes: start))
    #expect(!channel.isActive && refusals.value == 1)
  }

  @Test func `A header that is not complete in time closes the connection, even if its bytes keep coming`() throws {
    let (channel, _) = try connection()
    for byte in "PROXY TCP4".utf8 {
      try channel.writeInbound(ByteBuffer(bytes: [byte]))
      if channel.isActive { channel.embeddedEventLoop.advanceTime(by: .milliseconds(900)) }
    }
    #expect(channel.isActive && refusals.value == 0)
    channel.embeddedEventLoop.advanceTime(by: .seconds(1))
    #expect(!channel.isActive && refusals.value == 1)
  }

  @Test func `A connection that closes before its header does not count as a refusal`() throws {
    let (channel, _) = try connection()
    channel.close(promise: nil)
    channel.embeddedEventLoop.run()
    channel.embeddedEventLoop.advanceTime(by: .seconds(20))
    #expect(refusals.value == 0)
  }
}
