/// Why bytes are not the expected key. The descriptions are written to follow the name of a file or a token, as in ``KeyFileError``.
public enum KeyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Not a key, or OpenSSL failed; with the reason.
  case notAKey(String)
  /// The key has another curve than the expected one, or no elliptic curve; with OpenSSL's name of the curve or of the type.
  case wrongKind(found: String)
  case publicKeyInPlaceOfPrivate
  case certificateInPlaceOfKey
  /// More than one private key in one text.
  case severalKeys(Int)
  /// The text also has a PEM block of this name.
  case moreThanTheKey(String)
  /// The key is followed by text that is not PEM.
  case textAfterTheKey
  /// The public key in the text or token does not belong to the private key.
  case mismatchedPublicKey
  case passphraseNeeded
  case wrongPassphrase
  /// The key is encrypted with a cipher that OpenSSL's default provider does not have.
  case unknownCipher
  /// The key is in a token and cannot be exported.
  case staysInToken

  public var description: String {
    switch self {
    case .notAKey(let reason): "is not a key that can be read (\(reason))"
    case .wrongKind("prime192v1"):
      "is a P-192 key; Apple accepts only signatures of P-256 (prime256v1) keys: make a new key and register it"
    case .wrongKind(let found): "is a key of another kind (\(found)); a P-256 (prime256v1) key is required"
    case .publicKeyInPlaceOfPrivate: "contains a public key; the private key is required"
    case .certificateInPlaceOfKey: "contains a certificate; the private key is required"
    case .severalKeys(let count): "contains \(count) private keys; it must contain exactly one"
    case .moreThanTheKey(let name): "contains a \(name) besides the private key; it must contain only the key"
    case .textAfterTheKey: "contains text after the key; it must end with the key"
    case .mismatchedPublicKey: "contains a public key that does not belong to the private key"
    case .passphraseNeeded: "is encrypted; name its passphrase file"
    case .wrongPassphrase: "cannot be decrypted with this passphrase"
    case .unknownCipher: "is encrypted with a cipher that OpenSSL no longer supports; encrypt it again with AES-256-CBC"
    case .staysInToken: "is in a PKCS#11 token and cannot be exported"
    }
  }
}

/// Why the file of a key, a passphrase, a PIN or another secret is refused, with the file's path.
public enum KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  case absent(path: String)
  case unreadable(path: String, reason: String)
  case readableByOthers(path: String, mode: UInt32)
  case ownedByAnother(path: String, owner: UInt32)
  case notAKey(path: String, KeyError)
  /// A key is never written over an existing file.
  case exists(path: String)
  case notWritten(path: String, reason: String)

  public var description: String { text("key file") }

  /// The description for another kind of file, such as `token file`.
  public func text(_ kind: String) -> String {
    switch self {
    case .absent(let path): "\(kind) \(path) does not exist"
    case .unreadable(let path, let reason): "\(kind) \(path) cannot be read: \(reason)"
    case .readableByOthers(let path, let mode):
      "\(kind) \(path) has mode 0\(String(mode, radix: 8)): others may read or change it; chmod 0400 fixes this"
        // The mode with which Kubernetes mounts a Secret for a group.
        + (mode & 0o077 == 0o040 ? "; a group may read it only where root owns the file and the group is one of this process's" : "")
    case .ownedByAnother(let path, let owner):
      "\(kind) \(path) belongs to user \(owner), who may read and change it; its owner must be this process's user or root"
    case .notAKey(let path, let error): "\(kind) \(path) \(error)"
    case .exists(let path): "\(kind) \(path) exists already and is never overwritten"
    case .notWritten(let path, let reason): "\(kind) \(path) cannot be written: \(reason)"
    }
  }
}
