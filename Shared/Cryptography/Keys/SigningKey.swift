import COpenSSL

#if canImport(Glibc)
  import Glibc
#endif

/// A private P-256 key, in memory or in a PKCS#11 token (an HSM or smart card).
///
/// ```swift
/// let key = try KeyFileProvider().key("key.pem", secretFile: nil)
/// let signature = try key.sign(Array("text".utf8))
/// assert(key.publicKey.verifies(signature, of: Array("text".utf8)))
/// ```
///
/// A key in memory is exported only by `writePEM` and `pem`. On release OpenSSL overwrites the private number (`EC_KEY_free`), and this
/// module overwrites its buffers of the key's text. Copies that OpenSSL makes while it decodes a text are freed, but not always
/// overwritten.
public final class SigningKey: @unchecked Sendable {  // like PublicKey, it is not changed after the initialiser
  /// Where the private key is stored.
  enum Storage: Sendable { case memory, token }

  /// The prepared signing context. Preparing it costs much of a signature's time, so it is prepared once and copied for each signature.
  /// Copying only reads it, so threads can do so concurrently, also for a key in a token.
  private let context: OpaquePointer
  private let storage: Storage
  /// The key for batch signing; nil for a key in a token.
  let batchKey: OpaquePointer?
  public let publicKey: PublicKey

  /// Takes ownership of the key, also when it throws.
  init(owning raw: OpaquePointer, in storage: Storage) throws(KeyError) {
    // The context keeps a reference to the key.
    defer { EVP_PKEY_free(raw) }
    let curve = try PublicKey.curve(of: raw)
    guard curve == .p256 else { throw .wrongKind(found: curve == .p192 ? "prime192v1" : "secp384r1") }
    EVP_PKEY_up_ref(raw)
    let whole = try PublicKey(owning: raw)
    // Encoded and decoded again, so that the public key's object does not contain the private key.
    publicKey = try PublicKey(subjectPublicKeyInfo: whole.subjectPublicKeyInfo)
    guard let context = EVP_PKEY_CTX_new(raw, nil) else { throw .notAKey(OpenSSLErrors.drain("no context")) }
    self.context = context
    self.storage = storage
    batchKey = storage == .memory ? copenssl_batch_key(raw) : nil
    // Without the digest's name a key in a token signs too, but leaves an error in OpenSSL's error queue.
    guard EVP_PKEY_sign_init(context) == 1, EVP_PKEY_CTX_set_signature_md(context, EVP_sha256()) == 1 else {
      throw .notAKey(OpenSSLErrors.drain("no signing context"))
    }
  }

  /// Parses PEM in SEC1 format (`BEGIN EC PRIVATE KEY`, with or without its parameters) or PKCS#8 (`BEGIN PRIVATE KEY`). Either may be
  /// encrypted (`Proc-Type: 4,ENCRYPTED` or `BEGIN ENCRYPTED PRIVATE KEY`). A passphrase that is not needed is ignored.
  public convenience init(pem: String, passphrase: String? = nil) throws(KeyError) {
    try self.init(pem: Secret(pem), passphrase: passphrase.map { Secret($0) })
  }

  /// The same for a text that is wiped when the last reference is released.
  convenience init(pem: Secret, passphrase: Secret?) throws(KeyError) {
    let encrypted = try pem.withBytes { bytes throws(KeyError) in try PrivateKeyText(checking: bytes).isEncrypted }
    if encrypted, passphrase == nil { throw .passphraseNeeded }
    // Without a callback, OpenSSL uses the last argument as the passphrase. Without a passphrase it would ask on the terminal, so an
    // unencrypted key gets an empty one.
    let key = (passphrase ?? Secret("")).withCString { text in
      pem.withBytes { bytes in PEMText.read(bytes) { PEM_read_bio_PrivateKey($0, nil, nil, UnsafeMutableRawPointer(text)) } }
    }
    guard let key else {
      let errors = OpenSSLErrors.drain()
      guard encrypted else { throw .notAKey(errors.last { $0.text != nil }?.text ?? "not PEM") }
      throw errors.contains(where: \.isUnknownCipher) ? .unknownCipher : .wrongPassphrase
    }
    do throws(KeyError) { try Self.checkPair(key) } catch {
      EVP_PKEY_free(key)
      throw error
    }
    try self.init(owning: key, in: .memory)
  }

  /// Loads a key file that only its owner may read. The owner must be this process's user or root.
  public static func load(path: String, passphrase: String? = nil) throws(KeyFileError) -> SigningKey {
    try load(path: path, passphrase: passphrase.map { Secret($0) })
  }

  static func load(path: String, passphrase: Secret?) throws(KeyFileError) -> SigningKey {
    let text = try OwnerOnlyFile.read(path)
    do throws(KeyError) { return try SigningKey(pem: text, passphrase: passphrase) } catch { throw .notAKey(path: path, error) }
  }

  /// Throws unless the public key in the text, if there is one, belongs to the private key. OpenSSL does not check this. With a wrong
  /// public key, no signature would verify.
  private static func checkPair(_ key: OpaquePointer) throws(KeyError) {
    // The curve is checked first, because `EVP_PKEY_check` does not support all types of keys.
    _ = try PublicKey.curve(of: key)
    guard let context = EVP_PKEY_CTX_new(key, nil) else { throw .notAKey(OpenSSLErrors.drain("no context")) }
    defer { EVP_PKEY_CTX_free(context) }
    guard EVP_PKEY_check(context) == 1 else {
      ERR_clear_error()
      throw .mismatchedPublicKey
    }
  }

  /// Makes a new key.
  public static func generate() throws(KeyError) -> SigningKey {
    guard let context = EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { throw .notAKey(OpenSSLErrors.drain("no EC")) }
    defer { EVP_PKEY_CTX_free(context) }
    var key: OpaquePointer?
    guard EVP_PKEY_keygen_init(context) == 1,
      EVP_PKEY_CTX_set_group_name(context, "prime256v1") == 1,
      EVP_PKEY_generate(context, &key) == 1, let key
    else { throw .notAKey(OpenSSLErrors.drain("no key made")) }
    return try SigningKey(owning: key, in: .memory)
  }

  deinit {
    copenssl_batch_key_free(batchKey)
    EVP_PKEY_CTX_free(context)
  }

  /// The private key as PKCS#8 PEM, in a string that is not wiped; empty for a key in a token. To write a file, use `writePEM`.
  public var pem: String {
    (try? text(passphrase: nil) { String(decoding: $0, as: UTF8.self) }) ?? ""
  }

  /// Writes the private key as PKCS#8 PEM to a new file that only its owner may read (mode 0600), encrypted with AES-256-CBC if a
  /// passphrase is given. Nothing is overwritten and no symbolic link is followed. The file is synced to disk.
  public func writePEM(to path: String, passphrase: String? = nil) throws(KeyFileError) {
    if let passphrase {
      let utf8 = passphrase.utf8
      guard !utf8.isEmpty, utf8.count <= OwnerOnlyFile.maxPassphraseBytes, !utf8.contains(0), !utf8.contains(UInt8(ascii: "\n")) else {
        throw .notWritten(
          path: path, reason: "a passphrase must be one line of 1 to \(OwnerOnlyFile.maxPassphraseBytes) bytes without zero bytes")
      }
    }
    try write(to: path, passphrase: passphrase.map { Secret($0) })
  }

  /// The same with the passphrase in the first line of a file that only its owner may read.
  public func writePEM(to path: String, passphraseFile: String?) throws(KeyFileError) {
    try write(to: path, passphrase: try passphraseFile.map { file throws(KeyFileError) in try OwnerOnlyFile.firstLine(file) })
  }

  private func write(to path: String, passphrase: Secret?) throws(KeyFileError) {
    // The closure returns the file's error as a `Result`, because `text` can throw only `KeyError`.
    let written: Result<Void, KeyFileError>
    do throws(KeyError) {
      written = try text(passphrase: passphrase) { bytes in
        Result { () throws(KeyFileError) in try OwnerOnlyFile.create(path, holding: bytes) }
      }
    } catch {
      let reason = if case .notAKey(let detail) = error { detail } else { "the key \(error)" }
      throw .notWritten(path: path, reason: reason)
    }
    try written.get()
  }

  /// Iterations of PBKDF2 with HMAC-SHA-256, as OWASP's Password Storage Cheat Sheet recommends. OpenSSL's default is 2,048.
  private static let iterations: Int32 = 600_000

  /// Calls the closure with the PEM text, in memory that libcrypto wipes afterwards.
  private func text<Output>(passphrase: Secret?, _ body: (UnsafeRawBufferPointer) -> Output) throws(KeyError) -> Output {
    guard storage == .memory else { throw .staysInToken }
    guard let bio = BIO_new(BIO_s_secmem()) else { throw .notAKey(OpenSSLErrors.drain("no memory")) }
    defer { BIO_free(bio) }
    guard let plain = EVP_PKEY2PKCS8(EVP_PKEY_CTX_get0_pkey(context)) else { throw .notAKey(OpenSSLErrors.drain("no PKCS#8")) }
    defer { PKCS8_PRIV_KEY_INFO_free(plain) }
    let written: Bool
    if let passphrase {
      guard let scheme = PKCS5_pbe2_set_iv(EVP_aes_256_cbc(), Self.iterations, nil, 0, nil, NID_hmacWithSHA256) else {
        throw .notAKey(OpenSSLErrors.drain("no encryption scheme"))
      }
      let sealed = passphrase.withCString { PKCS8_set0_pbe($0, Int32(passphrase.count), plain, scheme) }
      guard let sealed else {
        X509_ALGOR_free(scheme)
        throw .notAKey(OpenSSLErrors.drain("not encrypted"))
      }
      // This frees the scheme too.
      defer { X509_SIG_free(sealed) }
      written = PEM_write_bio_PKCS8(bio, sealed) == 1
    } else {
      written = PEM_write_bio_PKCS8_PRIV_KEY_INFO(bio, plain) == 1
    }
    guard written else { throw .notAKey(OpenSSLErrors.drain("no PEM")) }
    var start: UnsafeMutablePointer<CChar>?
    let length = BIO_ctrl(bio, BIO_CTRL_INFO, 0, &start)
    guard length > 0, let start else { throw .notAKey("no PEM") }
    return body(UnsafeRawBufferPointer(start: start, count: length))
  }

  /// Signs with ECDSA over SHA-256. Returns minimal DER.
  public func signDER(_ message: [UInt8]) throws(SignatureError) -> [UInt8] {
    guard let context = EVP_PKEY_CTX_dup(context) else { throw .notMade(OpenSSLErrors.drain("no context")) }
    defer { EVP_PKEY_CTX_free(context) }
    let digest = SHA256Digest.hash(message)
    var length = 80
    var failed = false
    let der = [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
      failed = EVP_PKEY_sign(context, buffer.baseAddress, &length, digest, digest.count) != 1
      count = failed ? 0 : length
    }
    if failed { throw .notMade(OpenSSLErrors.drain("no signature made")) }
    return der
  }
}
