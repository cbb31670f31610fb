import Cryptography
import ServiceRuntime

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
}
