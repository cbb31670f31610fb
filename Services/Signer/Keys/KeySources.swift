import Cryptography
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#endif

/// Loads the private keys that the configuration names, from files or from a PKCS#11 token. A key that is named several times is loaded
/// once. Errors name the setting.
struct KeySources {
  private let token: PKCS11KeyProvider?
  private var loaded: [DeploymentConfiguration.KeySource: SigningKey] = [:]

  /// - Parameter module: the path of the PKCS#11 module; nil if none is configured.
  init(module: String?) { token = module.map { PKCS11KeyProvider(module: $0) } }

  /// - Parameter place: the path of the key's setting in the configuration, for errors.
  mutating func load(_ source: DeploymentConfiguration.KeySource, place: String) throws(ConfigurationError) -> SigningKey {
    if let key = loaded[source] { return key }
    let provider: any PrivateKeyProvider
    let (reference, secretFile): (String, String?)
    switch source {
    case .file(let path, let passphraseFile): (provider, reference, secretFile) = (KeyFileProvider(), path, passphraseFile)
    case .token(let uri, let pinFile):
      guard let token else {
        throw ConfigurationError("\(place).uri", "names a key in a token, so pkcs11.module must name the token's module")
      }
      (provider, reference, secretFile) = (token, uri, pinFile)
    }
    let key: SigningKey
    do throws(PrivateKeyError) { key = try provider.key(reference, secretFile: secretFile) } catch {
      throw ConfigurationError(place, "\(error)")
    }
    loaded[source] = key
    return key
  }

  /// The time at which a key was created, milliseconds since 1970: the configured time, or else the time at which its file was last
  /// changed, although the key may be older than the file. Nil for a key in a token without a configured time.
  static func creation(of source: DeploymentConfiguration.KeySource, configured: Int64?) -> Int64? {
    if let configured { return configured }
    guard case .file(let path, _) = source else { return nil }
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) * 1000 : nil
  }
}
