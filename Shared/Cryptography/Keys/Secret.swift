import COpenSSL

/// Bytes that are wiped on deallocation: a passphrase, a PIN, the text of a private key.
final class Secret: @unchecked Sendable {  // its memory is written only in the initialiser
  /// The bytes and a zero byte, which ends them as a C string.
  private let memory: UnsafeMutableRawBufferPointer
  /// The number of bytes without the zero byte.
  private(set) var count = 0

  /// Allocates `capacity` bytes and lets the closure write to them. The closure returns the number of bytes that it wrote.
  init<Failure: Error>(capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int) throws(Failure) {
    memory = .allocate(byteCount: capacity + 1, alignment: 1)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    count = try fill(UnsafeMutableRawBufferPointer(rebasing: memory[..<capacity]))
  }

  convenience init(_ text: String) {
    let utf8 = text.utf8
    self.init(capacity: utf8.count) { (buffer) throws(Never) in
      buffer.copyBytes(from: utf8)
      return utf8.count
    }
  }

  deinit {
    OPENSSL_cleanse(memory.baseAddress, memory.count)
    memory.deallocate()
  }

  /// The bytes, valid within the closure.
  func withBytes<Result, Failure: Error>(_ body: (UnsafeRawBufferPointer) throws(Failure) -> Result) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(rebasing: memory[..<count]))
  }

  /// The bytes as a C string, valid within the closure.
  func withCString<Result>(_ body: (UnsafeMutablePointer<CChar>) -> Result) -> Result {
    body(memory.baseAddress!.assumingMemoryBound(to: CChar.self))
  }
}
