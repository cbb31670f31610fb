import ArgumentParser
import Cryptography

/// `signer pubkey`: prints the public key of an existing key.
struct PubKey: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pubkey", abstract: "Print the public key of a private key as PEM, as Apple's registration form asks for it.")

  @Argument(help: "A key file, or the PKCS#11 URI of a key in a token.") var key: String
  @Option(help: "The file of an encrypted key's passphrase.") var passphraseFile: String?
  @Option(help: "The PKCS#11 module, for a key in a token.") var module: String?
  @Option(help: "The file of the token's PIN.") var pinFile: String?

  func validate() throws {
    if key.hasPrefix("pkcs11:"), module == nil { throw ValidationError("A key in a token needs --module.") }
  }

  func run() throws {
    do {
      let found =
        if key.hasPrefix("pkcs11:"), let module {
          try PKCS11KeyProvider(module: module).key(key, secretFile: pinFile)
        } else {
          try KeyFileProvider().key(key, secretFile: passphraseFile)
        }
      print(found.publicKey.pem, terminator: "")
    } catch {
      throw SignerMain.fail(error)
    }
  }
}
