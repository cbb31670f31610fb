import AppStore
import Cryptography

// Signatures as signer makes them: the key signs the bytes of the rule, and the shipped functions make the text.

extension PromotionalOffer {
  func sign(with key: SigningKey) throws -> String { Self.text(of: try key.sign(message)) }
}

extension AppStoreRequestJWS {
  func sign(with key: SigningKey) throws -> String {
    let input = signingInput
    return CompactJWS.completed(input, with: try key.sign(Array(input.utf8)))
  }
}
