import Foundation
import Testing

@testable import Cryptography

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Key files")
struct KeyFileTests {
  @Test("only a file that only its owner can read is accepted")
  func modes() throws {
    let folder = try TemporaryFolder()
    let pem = try SigningKey.generate().pem
    for mode: Int in [0o644, 0o640, 0o604, 0o610, 0o601, 0o660, 0o777, 0o440, 0o444, 0o404] {
      let path = try folder.write("key.pem", pem, mode: mode)
      let error = try #require(throws: KeyFileError.self) { try SigningKey.load(path: path) }
      #expect(error == .readableByOthers(path: path, mode: UInt32(mode)))
      #expect(error.description.contains(path) && error.description.contains("chmod 0400"))
      // The mode that fsGroup sets for a secret volume's file.
      #expect(error.description.contains("a group may read it only where root owns the file") == [0o640, 0o440].contains(mode))
    }
    for mode: Int in [0o400, 0o600, 0o700, 0o500] {
      #expect(try SigningKey.load(path: try folder.write("key.pem", pem, mode: mode)).pem == pem)
    }
  }

  @Test("a file of root may be readable by a group of this process, like a Kubernetes secret with fsGroup")
  func groups() {
    func isShared(owner: uid_t = 0, group: gid_t = 10_001, mode: mode_t = 0o440, user: uid_t = 10_001, groups: [gid_t] = [1, 10_001])
      -> Bool
    {
      OwnerOnlyFile.isSharedByRoot(owner: owner, group: group, mode: mode, user: user, groups: groups)
    }
    #expect(isShared() && isShared(mode: 0o640))
    #expect(!isShared(owner: 5) && !isShared(owner: 10_001) && !isShared(group: 7) && !isShared(user: 0) && !isShared(groups: []))
    for mode: mode_t in [0o444, 0o441, 0o460, 0o450, 0o442] { #expect(!isShared(mode: mode), "0\(String(mode, radix: 8))") }
  }

  @Test("a path that is no regular file of a valid size is refused by name")
  func kinds() throws {
    let folder = try TemporaryFolder()
    let none = folder.path("none")
    #expect(throws: KeyFileError.absent(path: none)) { try SigningKey.load(path: none) }
    #expect(throws: KeyFileError.unreadable(path: folder.path, reason: "is a directory")) { try SigningKey.load(path: folder.path) }
    let empty = try folder.write("empty", "")
    #expect(throws: KeyFileError.unreadable(path: empty, reason: "is empty")) { try SigningKey.load(path: empty) }
    let large = try folder.write("large", String(repeating: "x", count: 65_537))
    #expect(throws: KeyFileError.unreadable(path: large, reason: "is too large (65537 bytes)")) { try SigningKey.load(path: large) }
    // No process writes to the pipe, so a blocking read would never end.
    let pipe = folder.path("pipe")
    try #require(mkfifo(pipe, 0o600) == 0)
    #expect(throws: KeyFileError.unreadable(path: pipe, reason: "is not a regular file")) { try SigningKey.load(path: pipe) }
    let inFile = try folder.write("file", "x") + "/key"
    #expect(throws: KeyFileError.self) { try SigningKey.load(path: inFile) }
    let cut = try folder.write("key", try SigningKey.generate().pem) + "\0.pem"
    #expect(throws: KeyFileError.self) { try SigningKey.load(path: cut) }
  }

  @Test("a symbolic link is followed to a file that must meet the rules")
  func links() throws {
    // The links of Kubernetes: key.pem -> ..data/key.pem, ..data -> ..2026.
    let folder = try TemporaryFolder()
    try FileManager.default.createDirectory(atPath: folder.path("..2026"), withIntermediateDirectories: false)
    let pem = try SigningKey.generate().pem
    let real = try folder.write("..2026/key.pem", pem, mode: 0o400)
    try FileManager.default.createSymbolicLink(atPath: folder.path("..data"), withDestinationPath: "..2026")
    let path = folder.path("key.pem")
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "..data/key.pem")
    #expect(try SigningKey.load(path: path).pem == pem)
    try #require(chmod(real, 0o440) == 0)
    #expect(throws: KeyFileError.readableByOthers(path: path, mode: 0o440)) { try SigningKey.load(path: path) }
    try FileManager.default.removeItem(atPath: real)
    #expect(throws: KeyFileError.absent(path: path)) { try SigningKey.load(path: path) }
  }

  @Test(
    "a file of another user is refused, though this process can read it", .enabled(if: geteuid() == 0, "needs root to give a file away"))
  func owners() throws {
    let folder = try TemporaryFolder()
    let path = try folder.write("key.pem", try SigningKey.generate().pem, mode: 0o400)
    #expect(throws: Never.self) { try SigningKey.load(path: path) }
    try #require(chown(path, 65_534, 65_534) == 0)
    let error = #expect(throws: KeyFileError.ownedByAnother(path: path, owner: 65_534)) { try SigningKey.load(path: path) }
    #expect(error?.description.contains(path) == true)
  }
}

@Suite("Writing key files")
struct KeyFileWritingTests {
  private func mode(_ path: String) throws -> Int {
    try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
  }

  @Test("a key is written as PKCS#8 for its owner only, and can be read back by us and by OpenSSL")
  func plain() throws {
    let folder = try TemporaryFolder()
    let key = try SigningKey.generate()
    let path = folder.path("key.pem")
    try key.writePEM(to: path)
    #expect(try mode(path) == 0o600)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text == key.pem)
    #expect(text.hasPrefix("-----BEGIN PRIVATE KEY-----\n") && text.hasSuffix("-----END PRIVATE KEY-----\n"))
    #expect(try SigningKey.load(path: path).publicKey.pem == key.publicKey.pem)
    #expect(try KeyTests.openssl("ec", "-pubout", input: text) == key.publicKey.pem)
  }

  @Test("with a passphrase it is encrypted with AES-256-CBC")
  func encrypted() throws {
    let folder = try TemporaryFolder()
    let key = try SigningKey.generate()
    let path = folder.path("key.pem")
    try key.writePEM(to: path, passphrase: KeyFormTests.passphrase)
    #expect(try mode(path) == 0o600)
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(text.hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
    #expect(throws: KeyFileError.notAKey(path: path, .passphraseNeeded)) { try SigningKey.load(path: path) }
    #expect(throws: KeyFileError.notAKey(path: path, .wrongPassphrase)) { try SigningKey.load(path: path, passphrase: "guess") }
    #expect(try SigningKey.load(path: path, passphrase: KeyFormTests.passphrase).pem == key.pem)
    let form = try KeyTests.openssl("asn1parse", input: text, standardOutput: true)
    #expect(form.contains("aes-256-cbc") && form.contains("hmacWithSHA256") && form.contains("PBKDF2"))
    #expect(form.contains(":0927C0"), "600,000 iterations")
    let plain = try KeyTests.openssl("pkcs8", "-passin", "pass:" + KeyFormTests.passphrase, input: text)
    #expect(plain == key.pem)
  }

  @Test("no file is overwritten, no link is followed, and a refusal leaves no file")
  func refusals() throws {
    let folder = try TemporaryFolder()
    let key = try SigningKey.generate()
    let there = try folder.write("there", "something else")
    #expect(throws: KeyFileError.exists(path: there)) { try key.writePEM(to: there) }
    #expect(try String(contentsOfFile: there, encoding: .utf8) == "something else")
    let link = folder.path("link")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "target")
    #expect(throws: KeyFileError.exists(path: link)) { try key.writePEM(to: link) }
    #expect(!FileManager.default.fileExists(atPath: folder.path("target")))
    #expect(throws: KeyFileError.exists(path: folder.path)) { try key.writePEM(to: folder.path) }
    #expect(throws: KeyFileError.self) { try key.writePEM(to: folder.path("none/key.pem")) }
    for passphrase in ["", "a\0b", "two\nlines", String(repeating: "x", count: 1024)] {
      let path = folder.path("key.pem")
      #expect(throws: KeyFileError.self) { try key.writePEM(to: path, passphrase: passphrase) }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    // A folder in which no file can be created.
    #expect(throws: KeyFileError.self) { try key.writePEM(to: "/proc/key.pem") }
  }

  @Test("if several tasks write to one path, one succeeds, and the file has its key")
  func race() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("key.pem")
    let winners = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<16 {
        group.addTask {
          guard let key = try? SigningKey.generate(), (try? key.writePEM(to: path)) != nil else { return nil }
          return key.pem
        }
      }
      return await group.reduce(into: [String]()) { if let pem = $1 { $0.append(pem) } }
    }
    #expect(winners.count == 1)
    #expect(try SigningKey.load(path: path).pem == winners.first)
  }
}
