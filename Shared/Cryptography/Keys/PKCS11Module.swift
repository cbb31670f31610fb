import COpenSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A PKCS#11 library and OpenSSL's engine for it. There is one for each path until the process ends, because finalizing the library would
/// end all its sessions in the process. The C functions are explained in `COpenSSL/include/PKCS11.h`.
final class PKCS11Module: @unchecked Sendable {  // its pointers do not change, and keys are loaded under one lock
  private let module: OpaquePointer
  private let engine: OpaquePointer
  private let path: String

  /// The modules by their paths. The lock is also held while a key is loaded, because loading sets the engine's PIN. Loading is rare.
  private static let opened = Mutex<[String: PKCS11Module]>([:])

  /// The key that the URI names. Loads the library if necessary.
  static func key(_ uri: PKCS11URI, pin: Secret?, module path: String) throws(TokenKeyError) -> SigningKey {
    try opened.withLock { opened throws(TokenKeyError) in
      let module: PKCS11Module
      if let known = opened[path] {
        module = known
      } else {
        module = try PKCS11Module(path)
        opened[path] = module
      }
      return try module.key(uri, pin: pin)
    }
  }

  private init(_ path: String) throws(TokenKeyError) {
    // The loader searches a name without a folder in the library paths, so only a path with a folder can be checked here.
    if path.contains("/"), access(path, F_OK) != 0 { throw .moduleMissing(path: path) }
    var reason = [CChar](repeating: 0, count: 512)
    guard let module = copenssl_pkcs11_module_open(path, &reason, reason.count) else {
      throw .moduleUnusable(path: path, reason: Self.text(reason))
    }
    guard let engine = copenssl_pkcs11_engine_open(path) else {
      throw .engineMissing(reason: OpenSSLErrors.drain("OpenSSL gives no reason"))
    }
    self.path = path
    self.module = module
    self.engine = engine
  }

  private func key(_ uri: PKCS11URI, pin: Secret?) throws(TokenKeyError) -> SigningKey {
    let token = try token(of: uri)
    if token.requiresLogin {
      if token.isLocked { throw .pinLocked(uri: uri.description) }
      if pin == nil { throw .pinNeeded(uri: uri.description) }
      if token.isAtLastTry { throw .lastTry(uri: uri.description) }
    }
    ERR_clear_error()
    let loaded = (pin ?? Secret("")).withCString { copenssl_pkcs11_private_key(engine, uri.description, $0) }
    guard let loaded else { throw Self.error(OpenSSLErrors.drain(), uri.description) }
    // The engine may have left errors about other objects of the token, which it skipped.
    ERR_clear_error()
    do throws(TokenKeyError) { try check(loaded, uri, slot: token.slot) } catch {
      EVP_PKEY_free(loaded)
      throw error
    }
    do throws(KeyError) {
      let key = try SigningKey(owning: loaded, in: .token)
      try Self.checkKeyPair(key)
      return key
    } catch { throw .unusableKey(uri: uri.description, error) }
  }

  private struct Token {
    let slot: UInt
    let name: String
    let requiresLogin: Bool
    let isLocked: Bool
    let isAtLastTry: Bool
  }

  /// The only token that the URI matches. It is searched here, because the engine reports "not found" both for a token and for a key.
  private func token(of uri: PKCS11URI) throws(TokenKeyError) -> Token {
    var list: UnsafeMutablePointer<copenssl_pkcs11_token>?
    let count = copenssl_pkcs11_tokens(module, &list)
    guard count >= 0 else {
      throw .moduleUnusable(path: path, reason: "cannot list its tokens (PKCS#11 code 0x\(String(-count, radix: 16)))")
    }
    defer { copenssl_pkcs11_tokens_free(list) }
    var names: [String] = []
    var matches: [Token] = []
    for raw in UnsafeBufferPointer(start: list, count: count) {
      let name = Self.text(raw.label)
      names.append(name)
      guard uri.label ?? name == name, uri.serial.map({ $0 == Self.text(raw.serial) }) ?? true,
        uri.manufacturer.map({ $0 == Self.text(raw.manufacturer) }) ?? true, uri.model.map({ $0 == Self.text(raw.model) }) ?? true
      else { continue }
      let flags = Int(raw.flags)
      matches.append(
        Token(
          slot: raw.slot, name: name, requiresLogin: flags & COPENSSL_TOKEN_LOGIN_REQUIRED != 0,
          isLocked: flags & COPENSSL_TOKEN_PIN_LOCKED != 0,
          isAtLastTry: flags & COPENSSL_TOKEN_PIN_FINAL_TRY != 0))
    }
    guard let token = matches.first else { throw .tokenMissing(uri: uri.description, present: names) }
    guard matches.count == 1 else { throw .severalTokens(uri: uri.description) }
    return token
  }

  /// Throws unless the key is an EC key with a public point and the only one that matches: of several, the engine uses the last one.
  private func check(_ key: OpaquePointer, _ uri: PKCS11URI, slot: UInt) throws(TokenKeyError) {
    let count =
      if let id = uri.id {
        uri.object.map { copenssl_pkcs11_count_private_keys(module, slot, $0, id, id.count) }
          ?? copenssl_pkcs11_count_private_keys(module, slot, nil, id, id.count)
      } else {
        copenssl_pkcs11_count_private_keys(module, slot, uri.object, nil, 0)
      }
    guard count >= 0 else { throw .failed(uri: uri.description, reason: "PKCS#11 code 0x\(String(-count, radix: 16))") }
    guard count <= 1 else { throw .severalKeys(uri: uri.description, count: count) }
    if EVP_PKEY_get_base_id(key) != EVP_PKEY_EC {
      throw .unusableKey(
        uri: uri.description, .wrongKind(found: OBJ_nid2sn(EVP_PKEY_get_base_id(key)).map { String(cString: $0) } ?? "unknown"))
    }
    guard copenssl_pkcs11_has_public_point(key) == 1 else { throw .noPublicKey(uri: uri.description) }
  }

  /// Throws unless the public key, which comes from another object of the token, belongs to the private key.
  private static func checkKeyPair(_ key: SigningKey) throws(KeyError) {
    let text = Array("A signature that shows that the halves of a key belong together.".utf8)
    let signature: ECDSASignature
    do throws(SignatureError) { signature = try key.sign(text) } catch { throw .notAKey("it makes no signature: \(error)") }
    guard key.publicKey.verifies(signature, of: text) else { throw .mismatchedPublicKey }
  }

  /// The meaning of the errors that the engine and its library left in OpenSSL's queue.
  private static func error(_ errors: [OpenSSLErrors.Entry], _ uri: String) -> TokenKeyError {
    // PKCS #11 Base Specification 2.40: CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, then CKR_PIN_LOCKED.
    if let code = errors.first(where: { $0.library == "PKCS#11 module" }) {
      switch code.reason {
      case 0xA0, 0xA1, 0xA2: return .wrongPIN(uri: uri)
      case 0xA4: return .pinLocked(uri: uri)
      default: return .failed(uri: uri, reason: code.text ?? "PKCS#11 code 0x\(String(code.reason, radix: 16))")
      }
    }
    // libp11: 101 is "object not found".
    if errors.contains(where: { $0.library == "pkcs11 engine" && $0.reason == 101 }) { return .noSuchKey(uri: uri) }
    return .failed(uri: uri, reason: errors.first { $0.text != nil }?.text ?? "OpenSSL gives no reason")
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// The text in a fixed-size C array, which ends at its first zero byte.
  private static func text<Characters>(_ characters: Characters) -> String {
    withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }
}
