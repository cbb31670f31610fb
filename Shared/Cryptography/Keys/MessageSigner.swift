/// Signs bytes with ECDSA over SHA-256 and a P-256 key: a ``SigningKey``, or a type that also records each signature.
public protocol MessageSigner: Sendable {
  /// The signature as minimal DER.
  func signDER(_ message: [UInt8]) throws(SignatureError) -> [UInt8]
}

extension MessageSigner {
  /// The signature as a value, from which ``ECDSASignature/raw`` and ``ECDSASignature/der`` can be read.
  public func sign(_ message: [UInt8]) throws(SignatureError) -> ECDSASignature {
    try ECDSASignature(der: try signDER(message), curve: .p256)
  }
}

extension SigningKey: MessageSigner {}
