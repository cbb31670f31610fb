/// Why bytes are not the expected key.
public enum KeyError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAKey(String)
  case wrongCurve(found: String)
  case publicKeyInPlaceOfPrivate
  case certificateInPlaceOfKey
  /// More than one private key in one text.
  case severalKeys(Int)
  /// There is another PEM block of this name.
  case moreThanTheKey(String)
  /// The key is followed by text that is not PEM.
  case textAfterTheKey
  /// The public key in the file does not belong to the private key.
  case halvesDiffer
  case passphraseNeeded
  case wrongPassphrase
  /// OpenSSL's default provider has no such cipher.
  case unknownCipher
  /// The key is in a token and cannot be exported.
  case staysInToken

  public var description: String {
    switch self {
    case .notAKey(let reason): "is not a key that can be read (\(reason))"
    case .wrongCurve("prime192v1"):
      "is a P-192 key; Apple takes signatures of P-256 (prime256v1) keys only: make a new key and register it"
    case .wrongCurve(let found): "is a key of another kind (\(found)); a P-256 (prime256v1) key belongs here"
    case .publicKeyInPlaceOfPrivate: "holds a public key; the private key belongs here"
    case .certificateInPlaceOfKey: "holds a certificate; the private key belongs here"
    case .severalKeys(let count): "holds \(count) private keys; exactly one belongs here"
    case .moreThanTheKey(let name): "holds a \(name) beside the private key; only the key belongs here"
    case .textAfterTheKey: "goes on after the key; nothing may follow it"
    case .halvesDiffer: "holds a public half that does not belong to its private half"
    case .passphraseNeeded: "is encrypted; name its passphrase file"
    case .wrongPassphrase: "cannot be decrypted with this passphrase"
    case .unknownCipher: "is encrypted in a way that OpenSSL no longer reads; encrypt it again with AES-256-CBC"
    case .staysInToken: "is in a token and cannot be written out"
    }
  }
}

/// Why the file of a key, a passphrase or a PIN is refused, with the file's path.
public enum KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  case absent(path: String)
  case unreadable(path: String, reason: String)
  case readableByOthers(path: String, mode: UInt32)
  case ownedByAnother(path: String, owner: UInt32)
  case notAKey(path: String, KeyError)
  /// The file exists, and keys never overwrite a file.
  case exists(path: String)
  case notWritten(path: String, reason: String)

  public var description: String { text("key file") }

  /// The message for another kind of file, such as `token file`.
  public func text(_ kind: String) -> String {
    switch self {
    case .absent(let path): "\(kind) \(path) does not exist"
    case .unreadable(let path, let reason): "\(kind) \(path) cannot be read: \(reason)"
    case .readableByOthers(let path, let mode):
      "\(kind) \(path) has mode 0\(String(mode, radix: 8)): others may read or change it; chmod 0400 is right"
        // The mode of a Kubernetes secret volume with a group.
        + (mode & 0o077 == 0o040 ? "; a group may read it only where root owns the file and the group is one of this process's" : "")
    case .ownedByAnother(let path, let owner):
      "\(kind) \(path) belongs to user \(owner), who may read and change it; it should be this process's user's or root's"
    case .notAKey(let path, let error): "\(kind) \(path) \(error)"
    case .exists(let path): "\(kind) \(path) exists already and is not overwritten"
    case .notWritten(let path, let reason): "\(kind) \(path) cannot be written: \(reason)"
    }
  }
}
