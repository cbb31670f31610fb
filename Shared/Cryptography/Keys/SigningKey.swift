import COpenSSL

#if canImport(Glibc)
  import Glibc
#endif

/// A private P-256 key. Its bytes never leave it but as PEM on demand; OpenSSL wipes them on release.
public final class SigningKey: @unchecked Sendable {  // as PublicKey: not changed after set-up
  /// Holds the key and is set up for signing: done once, since it costs a third of a signature, and copied for each. A copy
  /// only reads it.
  private let context: OpaquePointer
  public let publicKey: PublicKey

  private init(owning raw: OpaquePointer) throws(KeyError) {
    let curve: Curve
    do throws(KeyError) { curve = try PublicKey.curve(of: raw) } catch {
      EVP_PKEY_free(raw)
      throw error
    }
    guard curve == .p256 else {
      EVP_PKEY_free(raw)
      throw .wrongCurve(found: curve == .p192 ? "prime192v1" : "secp384r1")
    }
    EVP_PKEY_up_ref(raw)
    do throws(KeyError) {
      let whole = try PublicKey(owning: raw)
      // A public key that shares no private half.
      publicKey = try PublicKey(subjectPublicKeyInfo: whole.subjectPublicKeyInfo)
    } catch {
      EVP_PKEY_free(raw)
      throw error
    }
    // The context keeps a reference to the key.
    defer { EVP_PKEY_free(raw) }
    guard let context = EVP_PKEY_CTX_new(raw, nil) else { throw .notAKey(OpenSSLErrors.drain("no context")) }
    guard EVP_PKEY_sign_init(context) == 1 else {
      EVP_PKEY_CTX_free(context)
      throw .notAKey(OpenSSLErrors.drain("no signing context"))
    }
    self.context = context
  }

  /// Reads SEC1 (`BEGIN EC PRIVATE KEY`, with or without its parameters) or PKCS#8 (`BEGIN PRIVATE KEY`, also encrypted).
  public convenience init(pem: String, passphrase: String? = nil) throws(KeyError) {
    if pem.contains("-----BEGIN PUBLIC KEY-----") { throw .publicKeyInPlaceOfPrivate }
    let encrypted = pem.contains("ENCRYPTED")
    if encrypted, passphrase == nil { throw .passphraseNeeded }
    // With no callback OpenSSL takes the last argument for the passphrase; an empty one keeps it from asking the terminal.
    var secret = Array((passphrase ?? "").utf8CString)
    defer { OPENSSL_cleanse(&secret, secret.count) }
    let key = secret.withUnsafeMutableBufferPointer { buffer in
      PEMText.read(pem) { PEM_read_bio_PrivateKey($0, nil, nil, UnsafeMutableRawPointer(buffer.baseAddress)) }
    }
    guard let key else {
      let reason = OpenSSLErrors.drain("not PEM")
      throw encrypted ? .wrongPassphrase : .notAKey(reason)
    }
    try self.init(owning: key)
  }

  /// Loads a key file that nobody but its owner may read.
  public static func load(path: String, passphrase: String? = nil) throws(KeyFileError) -> SigningKey {
    // Opened once and looked at through the descriptor, so that the file that is checked is the one that is read.
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else {
      let code = errno
      throw code == ENOENT ? .absent(path: path) : .unreadable(path: path, reason: String(cString: strerror(code)))
    }
    defer { close(file) }
    var status = stat()
    guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(path: path, reason: "not a file")
    }
    let mode = UInt32(status.st_mode & 0o777)
    guard mode & 0o077 == 0 else { throw .readableByOthers(path: path, mode: mode) }
    guard status.st_size <= 65_536 else { throw .unreadable(path: path, reason: "too large for a key") }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    defer { OPENSSL_cleanse(&bytes, bytes.count) }
    let count = read(file, &bytes, bytes.count)
    guard count >= 0 else { throw .unreadable(path: path, reason: String(cString: strerror(errno))) }
    do throws(KeyError) {
      return try SigningKey(pem: String(decoding: bytes.prefix(count), as: UTF8.self), passphrase: passphrase)
    } catch {
      throw .notAKey(path: path, error)
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
    return try SigningKey(owning: key)
  }

  deinit { EVP_PKEY_CTX_free(context) }

  /// The private key as PKCS#8 PEM.
  public var pem: String {
    guard let bio = BIO_new(BIO_s_mem()) else { return "" }
    defer { BIO_free(bio) }
    guard PEM_write_bio_PrivateKey(bio, EVP_PKEY_CTX_get0_pkey(context), nil, nil, 0, nil, nil) == 1 else { return "" }
    var text = [UInt8](repeating: 0, count: 4096)
    defer { OPENSSL_cleanse(&text, text.count) }
    let length = BIO_read(bio, &text, Int32(text.count))
    return String(decoding: text.prefix(max(0, Int(length))), as: UTF8.self)
  }

  /// Signs with ECDSA over SHA-256.
  public func sign(_ message: [UInt8]) throws(SignatureError) -> ECDSASignature {
    try ECDSASignature(der: try signDER(message), curve: .p256)
  }

  /// Signs with ECDSA over SHA-256; the signature as OpenSSL writes it, minimal DER.
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
