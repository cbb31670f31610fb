import Synchronization

/// Random numbers that are the same for the same seed (the SplitMix64 generator).
public final class SeededRandom: Sendable {
  public struct Generator: RandomNumberGenerator {
    var state: UInt64
    public init(seed: UInt64) { state = seed }
    public mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var word = state
      word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
      word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
      return word ^ (word >> 31)
    }
  }

  private let generator: Mutex<Generator>

  public init(seed: UInt64) { generator = Mutex(Generator(seed: seed)) }

  public func integer(in range: ClosedRange<Int64>) -> Int64 {
    generator.withLock { Int64.random(in: range, using: &$0) }
  }

  public func bool() -> Bool { integer(in: 0...1) == 1 }

  public func element<Element: Sendable>(of list: [Element]) -> Element {
    list[Int(integer(in: 0...Int64(list.count - 1)))]
  }

  /// A number in 0 ..< 1.
  public func fraction() -> Double { generator.withLock { Double.random(in: 0..<1, using: &$0) } }

  /// A version 4 UUID in lower case.
  public func uuid() -> String {
    var bytes: [UInt8] = []
    for _ in 0..<2 {
      let word = UInt64(bitPattern: generator.withLock { Int64(bitPattern: $0.next()) })
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) }
    }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let hex = Array(Digest.hex(bytes))
    return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(hex[$0]) }.joined(separator: "-")
  }

  /// A string of `count` decimal digits that does not begin with 0.
  public func digits(_ count: Int) -> String {
    (0..<count).map { String(integer(in: ($0 == 0 ? 1 : 0)...9)) }.joined()
  }
}
