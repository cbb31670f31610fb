import AppleAttribution
import Cryptography

// Signatures as signer makes them: the key signs the bytes of the rule, and the rule's own function makes the text.

extension SKAdNetworkImpression {
  func sign(with key: SigningKey) throws -> String { Self.text(of: try key.sign(signedString)) }
}

extension AdAttributionKitImpression {
  func sign(with key: SigningKey) throws -> String {
    let input = signingInput()
    return CompactJWS.completed(input, with: try key.sign(Array(input.utf8)))
  }
}
