import Cryptography

/// What a form carries to show that it came from a page of ours. Masked anew each time: pages are compressed, and one that held the same
/// secret each time could be measured for it (BREACH).
enum FormToken {
  static func make(_ secret: [UInt8]) -> String {
    let mask = RandomBytes.make(secret.count)
    return Hex.encode(mask + zip(mask, secret).map { $0 ^ $1 })
  }

  static func matches(_ text: String, _ secret: [UInt8]) -> Bool {
    guard let bytes = Hex.decode(text), bytes.count == 2 * secret.count, !secret.isEmpty else { return false }
    return ConstantTime.equal(zip(bytes.prefix(secret.count), bytes.dropFirst(secret.count)).map { $0 ^ $1 }, secret)
  }
}
