import Cryptography

/// The token in a form, which proves that the form comes from a page of the console: it contains a secret that other sites do not know.
///
/// The token is a random mask and the secret XOR the mask, in hexadecimal. It differs in each page, because the size of compressed pages
/// could reveal a constant text (the attack BREACH).
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
