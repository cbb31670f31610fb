/// Signs bytes with ECDSA over SHA-256 with a P-256 key: the key itself, or a type that also records its use.
public protocol MessageSigner: Sendable {
  /// The signature as minimal DER.
  func signDER(_ message: [UInt8]) throws(SignatureError) -> [UInt8]
}

extension MessageSigner {
  /// The signature as its two numbers.
  public func sign(_ message: [UInt8]) throws(SignatureError) -> ECDSASignature {
    try ECDSASignature(der: try signDER(message), curve: .p256)
  }
}

extension SigningKey: MessageSigner {}
