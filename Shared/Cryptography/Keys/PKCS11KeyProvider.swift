import COpenSSL

/// Loads keys from a token: a hardware security module, a smart card or SoftHSM. OpenSSL's engine `pkcs11` (libp11) signs with them. Each
/// signature uses a session of its own, so many threads can sign concurrently as far as the token allows.
///
/// The token's library is loaded once per process and never unloaded. Only tokens that exist when the library's first key is loaded are
/// known. libp11 keeps the PIN, so that it can log in again. A login is valid for the whole process: after a token has accepted a PIN, it
/// checks no PIN any more, so a wrong PIN for another of its keys is not noticed.
public struct PKCS11KeyProvider: PrivateKeyProvider {
  /// The path of the token's PKCS#11 library.
  public let module: String

  /// - Parameter module: the path of the token's PKCS#11 library, such as `/usr/lib/softhsm/libsofthsm2.so`.
  public init(module: String) {
    self.module = module
  }

  /// Logs in to a token and finds the private key that a PKCS#11 URI names.
  ///
  /// - Parameter secretFile: the file of the token's PIN, if the token requires one.
  public func key(_ reference: String, secretFile: String? = nil) throws(PrivateKeyError) -> SigningKey {
    let uri: PKCS11URI
    do throws(PKCS11URIError) { uri = try PKCS11URI(validating: reference) } catch {
      // The text is not reported, because it may contain a PIN.
      throw .token(.badURI(error))
    }
    var pin: Secret?
    if let secretFile {
      do throws(KeyFileError) { pin = try OwnerOnlyFile.firstLine(secretFile) } catch { throw .secretFile(error) }
    }
    do throws(TokenKeyError) { return try PKCS11Module.key(uri, pin: pin, module: module) } catch { throw .token(error) }
  }
}

/// Why a key in a token cannot be used. It never contains the PIN.
public enum TokenKeyError: Error, Sendable, Hashable, CustomStringConvertible {
  case badURI(PKCS11URIError)
  case moduleMissing(path: String)
  case moduleUnusable(path: String, reason: String)
  case engineMissing(reason: String)
  /// No initialised token matches the URI; with the labels of those that exist.
  case tokenMissing(uri: String, present: [String])
  case severalTokens(uri: String)
  case pinNeeded(uri: String)
  case wrongPIN(uri: String)
  case pinLocked(uri: String)
  /// The next wrong PIN locks the token, so no PIN is tried: a service that restarts would try the same wrong PIN again.
  case lastTry(uri: String)
  case noSuchKey(uri: String)
  case severalKeys(uri: String, count: Int)
  case noPublicKey(uri: String)
  case unusableKey(uri: String, KeyError)
  case failed(uri: String, reason: String)

  public var description: String {
    switch self {
    case .badURI(let error): "the key's PKCS#11 URI \(error)"
    case .moduleMissing(let path): "PKCS#11 module \(path) does not exist"
    case .moduleUnusable(let path, let reason): "PKCS#11 module \(path) cannot be used: \(reason)"
    case .engineMissing(let reason):
      "OpenSSL's engine pkcs11 cannot be loaded (\(reason)); it is in Debian's package libengine-pkcs11-openssl"
    case .tokenMissing(let uri, let present):
      "no initialised token matches \(uri); initialised tokens: "
        + (present.isEmpty ? "none" : present.map { "\"\($0)\"" }.joined(separator: ", "))
    case .severalTokens(let uri): "more than one token matches \(uri); add the token's serial to the URI"
    case .pinNeeded(let uri): "the token of \(uri) requires a PIN; name its PIN file"
    case .wrongPIN(let uri): "the token of \(uri) does not accept this PIN"
    case .pinLocked(let uri): "the PIN of the token of \(uri) is locked; the token's security officer can unlock it"
    case .lastTry(let uri):
      "the token of \(uri) locks at the next wrong PIN, so no PIN is tried; log in with the right PIN in the token's own tool"
    case .noSuchKey(let uri): "the token has no private key that matches \(uri)"
    case .severalKeys(let uri, let count): "\(count) private keys match \(uri); exactly one must match"
    case .noPublicKey(let uri): "the token has the private key of \(uri) but not its public key, which must have the same id"
    case .unusableKey(let uri, let error): "the key of \(uri) \(error)"
    case .failed(let uri, let reason): "the key of \(uri) cannot be loaded from the token: \(reason)"
    }
  }
}
