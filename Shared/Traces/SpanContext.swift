import Cryptography

/// The id of a trace: 16 bytes, not all zero.
public struct TraceID: Sendable, Hashable {
  public let high: UInt64
  public let low: UInt64

  public init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// 32 hexadecimal digits.
  public var text: String { Hex.encode(high) + Hex.encode(low) }
}

/// The context of W3C Trace Context (level 2): the trace, the span and whether the trace is recorded.
public struct SpanContext: Sendable, Hashable {
  static let sampledFlag: UInt8 = 1
  /// The trace's id was made at random.
  static let randomFlag: UInt8 = 2

  public let traceID: TraceID
  public let spanID: UInt64
  public let flags: UInt8

  public init(traceID: TraceID, spanID: UInt64, flags: UInt8) {
    self.traceID = traceID
    self.spanID = spanID
    self.flags = flags
  }

  /// True if spans of this trace are recorded.
  public var isSampled: Bool { flags & Self.sampledFlag != 0 }

  /// Another span of the same trace.
  public func child() -> SpanContext {
    SpanContext(traceID: traceID, spanID: RandomBytes.words().0 | 1, flags: flags)
  }

  /// The same span with the sampled flag set or cleared.
  func sampled(_ isSampled: Bool) -> SpanContext {
    SpanContext(traceID: traceID, spanID: spanID, flags: isSampled ? flags | Self.sampledFlag : flags & ~Self.sampledFlag)
  }

  // MARK: The header

  /// Bytes of a `traceparent` of version 00.
  public static let length = 55

  /// The value of the header `traceparent`.
  public var traceparent: String {
    String(unsafeUninitializedCapacity: Self.length) { buffer in
      var at = 0
      func put(_ byte: UInt8) {
        buffer[at] = byte
        at += 1
      }
      func put(_ word: UInt64, digits: Int) {
        for index in (0..<digits).reversed() {
          let digit = UInt8(truncatingIfNeeded: word >> UInt64(4 * index)) & 15
          put(digit < 10 ? 48 + digit : 87 + digit)
        }
      }
      put(0, digits: 2)
      put(UInt8(ascii: "-"))
      put(traceID.high, digits: 16)
      put(traceID.low, digits: 16)
      put(UInt8(ascii: "-"))
      put(spanID, digits: 16)
      put(UInt8(ascii: "-"))
      put(UInt64(flags), digits: 2)
      return at
    }
  }

  /// Parses the header's value; nil if it is invalid, which must be treated as absent.
  public init?(traceparent: String) {
    var text = traceparent
    guard let context = text.withUTF8({ SpanContext(bytes: UnsafeRawBufferPointer($0)) }) else { return nil }
    self = context
  }

  public init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.length, bytes[2] == UInt8(ascii: "-"), bytes[35] == UInt8(ascii: "-"), bytes[52] == UInt8(ascii: "-"),
      let version = Self.word(bytes, 0, digits: 2), version != 0xff,
      // Later versions may have more fields after a hyphen.
      bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-"),
      let high = Self.word(bytes, 3, digits: 16), let low = Self.word(bytes, 19, digits: 16), high | low != 0,
      let span = Self.word(bytes, 36, digits: 16), span != 0, let flags = Self.word(bytes, 53, digits: 2)
    else { return nil }
    self.init(traceID: TraceID(high: high, low: low), spanID: span, flags: UInt8(flags))
  }

  /// Parses lower-case hexadecimal digits; nil for any other character.
  private static func word(_ bytes: UnsafeRawBufferPointer, _ start: Int, digits: Int) -> UInt64? {
    var word: UInt64 = 0
    for byte in bytes[start..<start + digits] {
      switch byte {
      case 48...57: word = word << 4 | UInt64(byte - 48)
      case 97...102: word = word << 4 | UInt64(byte - 87)
      default: return nil
      }
    }
    return word
  }
}
