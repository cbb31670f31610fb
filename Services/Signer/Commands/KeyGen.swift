import ArgumentParser
import Cryptography

/// `signer keygen`: makes a new key pair for an ad network (Registering an ad network).
struct KeyGen: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "keygen",
    abstract: "Make a P-256 key pair: the private key into a new file of mode 0600, the public key as PEM to standard output.",
    discussion: "The public key is what Apple's registration form asks for. The private key stays where it is written.")

  @Argument(help: "The file to write. It must not exist.") var path: String
  @Option(help: "A file whose first line encrypts the private key; only its owner may read it.") var passphraseFile: String?

  func run() throws {
    do {
      let key = try SigningKey.generate()
      try key.writePEM(to: path, passphraseFile: passphraseFile)
      print(key.publicKey.pem, terminator: "")
    } catch {
      throw SignerMain.fail(error)
    }
  }
}
