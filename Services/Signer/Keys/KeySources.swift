import Cryptography
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#endif

/// Loads the keys that the configuration names, each once, from files or from a PKCS#11 token. Errors name the setting.
struct KeySources {
  private let token: PKCS11KeyProvider?
  private var loaded: [DeploymentConfiguration.KeySource: SigningKey] = [:]

  /// - Parameter module: the PKCS#11 module's path, if one is configured.
  init(module: String?) { token = module.map { PKCS11KeyProvider(module: $0) } }

  mutating func load(_ source: DeploymentConfiguration.KeySource, place: String) throws(ConfigurationError) -> SigningKey {
    if let key = loaded[source] { return key }
    let provider: any PrivateKeyProvider
    let (reference, secretFile): (String, String?)
    switch source {
    case .file(let path, let passphraseFile): (provider, reference, secretFile) = (KeyFileProvider(), path, passphraseFile)
    case .token(let uri, let pinFile):
      guard let token else { throw ConfigurationError("\(place).uri", "names a token; pkcs11.module must name its module") }
      (provider, reference, secretFile) = (token, uri, pinFile)
    }
    let key: SigningKey
    do throws(PrivateKeyError) { key = try provider.key(reference, secretFile: secretFile) } catch {
      throw ConfigurationError(place, "\(error)")
    }
    loaded[source] = key
    return key
  }

  /// When a key was created, milliseconds since 1970: the configured time, or else the time of the last change of its file, although the
  /// key may be older than its file. Nil for a key in a token without a configured time.
  static func creation(of source: DeploymentConfiguration.KeySource, configured: Int64?) -> Int64? {
    if let configured { return configured }
    guard case .file(let path, _) = source else { return nil }
    var status = stat()
    return stat(path, &status) == 0 ? Int64(status.st_mtim.tv_sec) * 1000 : nil
  }
}
