import Foundation

#if canImport(Glibc)
  import Glibc
#endif

/// SoftHSM tokens, created once for all tests of the process, because the library reads their location when it is first used.
final class SoftTokens: Sendable {
  static let module = "/usr/lib/softhsm/libsofthsm2.so"
  static let pin = "48151623"
  static let otherPIN = "4222384"

  struct Missing: Error, CustomStringConvertible {
    let what: String
    var description: String { "\(what); these tests need Debian's packages softhsm2 and libengine-pkcs11-openssl" }
  }

  private static let made = Result { try SoftTokens() }
  /// The tokens. Throws if the packages are missing, so that the test fails.
  static func shared() throws -> SoftTokens { try made.get() }

  let folder: TemporaryFolder
  /// The imported private keys as PEM, by their names in the tokens.
  let imported: [String: String]
  let pinFile: String
  let otherPINFile: String
  let wrongPINFile: String

  private init() throws {
    guard access(Self.module, R_OK) == 0 else { throw Missing(what: "\(Self.module) is not there") }
    let folder = try TemporaryFolder()
    self.folder = folder
    try FileManager.default.createDirectory(atPath: folder.path("tokens"), withIntermediateDirectories: false)
    let settings = try folder.write(
      "softhsm2.conf", "directories.tokendir = \(folder.path("tokens"))\nobjectstore.backend = file\nlog.level = ERROR\n")
    // The library reads it from the environment when it is first used, which is later.
    setenv("SOFTHSM2_CONF", settings, 1)
    pinFile = try folder.write("pin", Self.pin + "\n", mode: 0o400)
    otherPINFile = try folder.write("other-pin", Self.otherPIN, mode: 0o400)
    wrongPINFile = try folder.write("wrong-pin", "11111111", mode: 0o400)

    for (label, pin) in [
      ("keys of 2026", Self.pin), ("other", Self.otherPIN), ("wary", Self.pin), ("double", Self.pin), ("double", Self.pin),
    ] {
      try Self.util("--init-token", "--free", "--label", label, "--so-pin", "87654321", "--pin", pin)
    }
    var imported: [String: String] = [:]
    func put(_ name: String, id: String, token: String, pin: String, sec1: String? = nil) throws {
      let pem = try KeyTests.openssl("pkcs8", "-topk8", "-nocrypt", input: try sec1 ?? KeyTests.sec1())
      let file = try folder.write("import.pem", pem)
      try Self.util("--import", file, "--token", token, "--label", name, "--id", id, "--pin", pin, "--force")
      imported[name] = pem
    }
    let first = "keys of 2026"
    try put("signing", id: "01", token: first, pin: Self.pin)
    try put("second key", id: "02", token: first, pin: Self.pin)
    try put("p384", id: "0384", token: first, pin: Self.pin, sec1: try KeyTests.sec1("secp384r1"))
    try put("rsa", id: "f5a0", token: first, pin: Self.pin, sec1: try KeyTests.openssl("genpkey", "-algorithm", "RSA"))
    try put("twin", id: "a1", token: first, pin: Self.pin)
    try put("twin", id: "a2", token: first, pin: Self.pin)
    // Two pairs have one id, so the public half of one is found for both.
    try put("one", id: "bb", token: first, pin: Self.pin)
    try put("other one", id: "bb", token: first, pin: Self.pin)
    try put("signing", id: "01", token: "other", pin: Self.otherPIN, sec1: imported["signing"])
    try put("wary", id: "01", token: "wary", pin: Self.pin)
    try put("widowed", id: "03", token: first, pin: Self.pin)
    try Self.removePublicObject("widowed", in: folder.path("tokens"))
    self.imported = imported
  }

  /// softhsm2-util can only import pairs. Each object is a file; the name in a private key's file is encrypted.
  private static func removePublicObject(_ name: String, in folder: String) throws {
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder).map { folder + "/" + $0 }.filter { $0.hasSuffix(".object") }
    let named = try files.filter { try Data(contentsOf: URL(fileURLWithPath: $0)).range(of: Data(name.utf8)) != nil }
    guard named.count == 1 else { throw Missing(what: "\(named.count) objects are named \(name)") }
    try FileManager.default.removeItem(atPath: named[0])
  }

  private static func util(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["softhsm2-util"] + arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    // setenv changes the environment of C, but a new process gets an earlier copy of it.
    var environment = ProcessInfo.processInfo.environment
    environment["SOFTHSM2_CONF"] = String(cString: getenv("SOFTHSM2_CONF"))
    process.environment = environment
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Missing(what: "softhsm2-util \(arguments[0]) failed") }
  }
}
