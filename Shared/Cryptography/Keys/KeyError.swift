/// Why bytes are not the key that was asked for.
public enum KeyError: Error, Sendable, Hashable, CustomStringConvertible {
  case notAKey(String)
  case wrongCurve(found: String)
  case publicKeyInPlaceOfPrivate
  case passphraseNeeded
  case wrongPassphrase

  public var description: String {
    switch self {
    case .notAKey(let reason): "is not a key that can be read (\(reason))"
    case .wrongCurve("prime192v1"):
      "is a P-192 key; Apple takes signatures of P-256 (prime256v1) keys only: make a new key and register it"
    case .wrongCurve(let found): "is a key of another kind (\(found)); a P-256 (prime256v1) key belongs here"
    case .publicKeyInPlaceOfPrivate: "holds a public key; the private key belongs here"
    case .passphraseNeeded: "is encrypted; name its passphrase file"
    case .wrongPassphrase: "cannot be decrypted with this passphrase"
    }
  }
}

/// Why a key file is refused; names the file.
public enum KeyFileError: Error, Sendable, Hashable, CustomStringConvertible {
  case absent(path: String)
  case unreadable(path: String, reason: String)
  case readableByOthers(path: String, mode: UInt32)
  case notAKey(path: String, KeyError)

  public var description: String {
    switch self {
    case .absent(let path): "key file \(path) does not exist"
    case .unreadable(let path, let reason): "key file \(path) cannot be read: \(reason)"
    case .readableByOthers(let path, let mode):
      "key file \(path) has mode 0\(String(mode, radix: 8)): others may read or change it; chmod 0400 is right"
    case .notAKey(let path, let error): "key file \(path) \(error)"
    }
  }
}
