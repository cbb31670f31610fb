import Cryptography
import Foundation
import ServiceRuntime

/// Reads key files, each once, and says in the configuration's terms what is wrong with one.
struct KeyFiles {
  private var loaded: [String: SigningKey] = [:]

  mutating func load(_ path: String, passphraseFile: String? = nil, place: String) throws(ConfigurationError) -> SigningKey {
    if let key = loaded[path] { return key }
    let passphrase = try passphraseFile.map { file throws(ConfigurationError) in try Self.passphrase(file, place: place) }
    do throws(KeyFileError) {
      let key = try SigningKey.load(path: path, passphrase: passphrase)
      loaded[path] = key
      return key
    } catch {
      throw ConfigurationError(place, error.description)
    }
  }

  mutating func load(_ key: DeploymentConfiguration.AppStoreKey?) throws(ConfigurationError) -> Keyring.AppKey? {
    guard let key else { return nil }
    let loaded = try load(key.path, place: key.place)
    return Keyring.AppKey(keyId: key.keyId, issuerId: key.issuerId, key: loaded, publicKey: loaded.publicKey.pem)
  }

  /// The first line of a file that nobody but its owner may read.
  private static func passphrase(_ path: String, place: String) throws(ConfigurationError) -> String {
    let field = "\(place).passphraseFile"
    guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
      let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue
    else { throw ConfigurationError(field, "file \(path) cannot be read") }
    guard mode & 0o077 == 0 else {
      throw ConfigurationError(field, "file \(path) has mode 0\(String(mode, radix: 8)): others may read or change it; chmod 0400 is right")
    }
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw ConfigurationError(field, "file \(path) cannot be read")
    }
    return String(text.prefix { $0 != "\n" && $0 != "\r\n" })
  }
}
