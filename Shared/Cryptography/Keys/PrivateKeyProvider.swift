/// A source of private keys.
public protocol PrivateKeyProvider: Sendable {
  /// Loads the key that a reference names: a path, or a PKCS#11 URI.
  ///
  /// - Parameter secretFile: the file whose first line is the key's passphrase or the token's PIN. Only the file's owner may read it.
  func key(_ reference: String, secretFile: String?) throws(PrivateKeyError) -> SigningKey
}

/// Why a key cannot be loaded. The description names the file or the token, and never contains a secret.
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

/// Loads keys from PEM files, as OpenSSL writes them or App Store Connect provides them (`.p8`).
public struct KeyFileProvider: PrivateKeyProvider {
  public init() {}

  /// Loads the key file at a path.
  ///
  /// - Parameter secretFile: the file of the key's passphrase, if the key is encrypted.
  public func key(_ reference: String, secretFile: String? = nil) throws(PrivateKeyError) -> SigningKey {
    var passphrase: Secret?
    if let secretFile {
      do throws(KeyFileError) { passphrase = try OwnerOnlyFile.firstLine(secretFile) } catch { throw .secretFile(error) }
    }
    do throws(KeyFileError) { return try SigningKey.load(path: reference, passphrase: passphrase) } catch { throw .keyFile(error) }
  }
}
