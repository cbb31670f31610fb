/// A whole number in decimal, however it is spelled: `525463029`, `525463029.0`, `5.25463029E8` and `5254630290e-1` are the same. It is
/// computed without floating point, so every digit counts.
struct WholeNumber: CustomStringConvertible {
  private let isNegative: Bool
  private let magnitude: UInt64

  /// Reads a text in JSON's grammar of numbers, in which further zeros may precede the digits. Nil for any other text, for a fraction other
  /// than zero, and for a number whose magnitude needs more than 64 bits.
  ///
  /// The time depends on the length of the text only: `1e999999999` is refused without computing it.
  init?(_ text: String) {
    var reader = DigitReader()
    guard let isNegative = text.withBytes({ reader.read($0) }), let magnitude = reader.magnitude else { return nil }
    self.magnitude = magnitude
    // There is no negative zero among whole numbers.
    self.isNegative = isNegative && magnitude > 0
  }

  var description: String { isNegative ? "-\(magnitude)" : "\(magnitude)" }

  /// The number as an integer of another type; nil if it does not fit.
  func converted<Value: FixedWidthInteger>(to type: Value.Type) -> Value? {
    guard isNegative else { return Value(exactly: magnitude) }
    guard magnitude <= Int64.min.magnitude else { return nil }
    return Value(exactly: Int64(truncatingIfNeeded: 0 &- magnitude))
  }
}

extension Int64 {
  /// The whole number that a text denotes: digits, which a minus sign may precede, and which a fraction of zero or an exponent may follow
  /// (`5`, `5.0`, `5e2`). Every digit counts. Nil for any other text, and for a number that does not fit.
  public init?(wholeNumber text: String) {
    guard let value = WholeNumber(text)?.converted(to: Int64.self) else { return nil }
    self = value
  }
}

/// The parts of a number while it is read.
private struct DigitReader {
  /// Above the length of any text, so that a greater exponent changes nothing.
  private static let maxExponent = 1 << 40

  /// The digits up to the last one that is not zero; nil if they need more than 64 bits.
  private var significant: UInt64? = 0
  /// The number of zeros after ``significant``.
  private var zeros = 0
  /// The power of ten by which the digits are multiplied.
  private var exponent = 0

  /// The magnitude of the number; nil if it is not whole or needs more than 64 bits.
  var magnitude: UInt64? {
    guard significant != 0 else { return 0 }
    return significant.flatMap { Self.multiplied($0, byTenTo: zeros + exponent) }
  }

  /// Reads a number. Returns whether it has a minus sign; nil if the text is not a number.
  mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool? {
    var index = 0
    let isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { index += 1 }
    guard readDigits(bytes, &index) > 0 else { return nil }
    if index < bytes.count, bytes[index] == UInt8(ascii: ".") {
      index += 1
      let count = readDigits(bytes, &index)
      guard count > 0 else { return nil }
      exponent -= count
    }
    if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      guard let power = Self.power(bytes, &index) else { return nil }
      exponent += power
    }
    return index == bytes.count ? isNegative : nil
  }

  /// Adds digits up to another character. Returns how many.
  private mutating func readDigits(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Int {
    let start = index
    while index < bytes.count, (48...57).contains(bytes[index]) {
      let digit = UInt64(bytes[index] - 48)
      index += 1
      if digit == 0 {
        if significant != 0 { zeros += 1 }
        continue
      }
      significant = significant.flatMap { Self.multiplied($0, byTenTo: zeros + 1) }.flatMap { value in
        let (sum, overflow) = value.addingReportingOverflow(digit)
        return overflow ? nil : sum
      }
      zeros = 0
    }
    return index - start
  }

  /// Reads the number of an exponent, at most ``maxExponent``; nil if it has no digits.
  private static func power(_ bytes: UnsafeBufferPointer<UInt8>, _ index: inout Int) -> Int? {
    var isNegative = false
    if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
      isNegative = bytes[index] == UInt8(ascii: "-")
      index += 1
    }
    let start = index
    var power = 0
    while index < bytes.count, (48...57).contains(bytes[index]) {
      power = min(power * 10 + Int(bytes[index] - 48), maxExponent)
      index += 1
    }
    guard index > start else { return nil }
    return isNegative ? -power : power
  }

  /// Nil for a negative power, and if the result needs more than 64 bits.
  private static func multiplied(_ value: UInt64, byTenTo power: Int) -> UInt64? {
    guard value != 0 else { return 0 }
    // 10^20 needs more than 64 bits.
    guard (0..<20).contains(power) else { return nil }
    var result = value
    for _ in 0..<power {
      let (product, overflow) = result.multipliedReportingOverflow(by: 10)
      guard !overflow else { return nil }
      result = product
    }
    return result
  }
}
