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

/// The identity of a span, as the header `traceparent` of W3C Trace Context (level 2) has it: the ids of its trace and of the span itself,
/// and whether the trace is recorded.
public struct SpanContext: Sendable, Hashable {
  /// The trace is recorded.
  static let sampledFlag: UInt8 = 1
  /// The last 56 bits of the trace's id are random.
  static let randomFlag: UInt8 = 2

  public let traceID: TraceID
  /// Never zero.
  public let spanID: UInt64
  public let flags: UInt8

  public init(traceID: TraceID, spanID: UInt64, flags: UInt8) {
    self.traceID = traceID
    self.spanID = spanID
    self.flags = flags
  }

  /// True if spans of this trace are recorded.
  public var isSampled: Bool { flags & Self.sampledFlag != 0 }

  /// The context of a new span of the same trace. Its id is odd, because an id must not be zero.
  public func child() -> SpanContext {
    SpanContext(traceID: traceID, spanID: RandomBytes.words().0 | 1, flags: flags)
  }

  /// The same context with the sampled flag set or cleared.
  func sampled(_ isSampled: Bool) -> SpanContext {
    SpanContext(traceID: traceID, spanID: spanID, flags: isSampled ? flags | Self.sampledFlag : flags & ~Self.sampledFlag)
  }

  // MARK: traceparent

  /// The length of a `traceparent` of version 00, in bytes.
  public static let length = 55

  /// The value of the header `traceparent`, version 00.
  public var traceparent: String {
    String(unsafeUninitializedCapacity: Self.length) { buffer in
      var position = 0
      func append(_ byte: UInt8) {
        buffer[position] = byte
        position += 1
      }
      func append(_ number: UInt64, digits: Int) {
        for index in (0..<digits).reversed() {
          let digit = UInt8(truncatingIfNeeded: number >> UInt64(4 * index)) & 15
          append(digit < 10 ? 48 + digit : 87 + digit)
        }
      }
      append(0, digits: 2)
      append(UInt8(ascii: "-"))
      append(traceID.high, digits: 16)
      append(traceID.low, digits: 16)
      append(UInt8(ascii: "-"))
      append(spanID, digits: 16)
      append(UInt8(ascii: "-"))
      append(UInt64(flags), digits: 2)
      return position
    }
  }

  /// Parses the value of the header `traceparent`; nil if it is invalid. The header must then be ignored.
  public init?(traceparent: String) {
    var text = traceparent
    guard let context = text.withUTF8({ SpanContext(bytes: UnsafeRawBufferPointer($0)) }) else { return nil }
    self = context
  }

  /// Parses the bytes of the header `traceparent`; nil if they are invalid.
  public init?(bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= Self.length, bytes[2] == UInt8(ascii: "-"), bytes[35] == UInt8(ascii: "-"), bytes[52] == UInt8(ascii: "-"),
      let version = Self.number(bytes, at: 0, digits: 2), version != 0xff,
      // Later versions may have more fields, after a hyphen.
      bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-"),
      let high = Self.number(bytes, at: 3, digits: 16), let low = Self.number(bytes, at: 19, digits: 16), high | low != 0,
      let span = Self.number(bytes, at: 36, digits: 16), span != 0, let flags = Self.number(bytes, at: 53, digits: 2)
    else { return nil }
    self.init(traceID: TraceID(high: high, low: low), spanID: span, flags: UInt8(flags))
  }

  /// The number with that many hexadecimal digits at `start`; nil for any character but lower-case digits.
  private static func number(_ bytes: UnsafeRawBufferPointer, at start: Int, digits: Int) -> UInt64? {
    var number: UInt64 = 0
    for byte in bytes[start..<start + digits] {
      switch byte {
      case 48...57: number = number << 4 | UInt64(byte - 48)
      case 97...102: number = number << 4 | UInt64(byte - 87)
      default: return nil
      }
    }
    return number
  }
}
