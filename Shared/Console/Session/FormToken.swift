import Cryptography

/// The token in a form that shows that the form is ours. It is masked differently each time, because the compressed size of pages could
/// reveal a constant secret (BREACH).
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
