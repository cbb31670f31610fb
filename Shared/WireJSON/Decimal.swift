extension [UInt8] {
  /// Appends the number's decimal digits in ASCII, with a minus sign if it is negative.
  public mutating func appendDecimal(_ value: Int64) {
    if value < 0 { append(UInt8(ascii: "-")) }
    // 20 digits are enough for every magnitude.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var rest = value.magnitude
      var start = 20
      repeat {
        start -= 1
        digits[start] = UInt8(truncatingIfNeeded: rest % 10) + 48
        rest /= 10
      } while rest > 0
      append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[start..<20]))
    }
  }
}
