/// Where private keys come from.
public protocol PrivateKeyProvider: Sendable {
  /// Gives the key that a reference names: a path, or a PKCS#11 URI.
  ///
  /// - Parameter secretFile: the file whose first line opens it, which only its owner may read: a passphrase, or a token's PIN.
  func key(_ reference: String, secretFile: String?) throws(PrivateKeyError) -> SigningKey
}

/// Why a provider gives no key. Says which file or token, and never what a secret file holds.
public enum PrivateKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  case keyFile(KeyFileError)
  case secretFile(KeyFileError)
  case token(TokenKeyError)

  public var description: String {
    switch self {
    case .keyFile(let error): error.text("key file")
    case .secretFile(let error): error.text("passphrase or PIN file")
    case .token(let error): error.description
    }
  }
}

/// Keys in PEM files, as OpenSSL writes them and as App Store Connect gives them (`.p8`).
public struct KeyFileProvider: PrivateKeyProvider {
  public init() {}

  /// Loads the key file at a path.
  ///
  /// - Parameter secretFile: the file of its passphrase, where it is encrypted.
  public func key(_ reference: String, secretFile: String? = nil) throws(PrivateKeyError) -> SigningKey {
    var passphrase: Secret?
    if let secretFile {
      do throws(KeyFileError) { passphrase = try OwnerOnlyFile.firstLine(secretFile) } catch { throw .secretFile(error) }
    }
    do throws(KeyFileError) { return try SigningKey.load(path: reference, passphrase: passphrase) } catch { throw .keyFile(error) }
  }
}
