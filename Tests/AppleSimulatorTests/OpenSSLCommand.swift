import Foundation

/// The `openssl` command, which shares no code with the checked implementation.
enum OpenSSLCommand {
  struct Output {
    var status: Int32
    var text: String
  }

  static func run(_ arguments: [String]) throws -> Output {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Output(status: process.terminationStatus, text: String(decoding: data, as: UTF8.self))
  }

  /// True if a DER signature over SHA-256 is valid for the SubjectPublicKeyInfo.
  static func verifies(_ signature: [UInt8], of message: [UInt8], publicKeyDER: [UInt8]) throws -> Bool {
    try inDirectory { directory in
      try Data(signature).write(to: URL(fileURLWithPath: directory + "/signature"))
      try Data(message).write(to: URL(fileURLWithPath: directory + "/message"))
      let pem =
        "-----BEGIN PUBLIC KEY-----\n" + Data(publicKeyDER).base64EncodedString(options: .lineLength64Characters)
        + "\n-----END PUBLIC KEY-----\n"
      try Data(pem.utf8).write(to: URL(fileURLWithPath: directory + "/key.pem"))
      return try run([
        "dgst", "-sha256", "-verify", directory + "/key.pem", "-signature", directory + "/signature",
        directory + "/message",
      ]).status == 0
    }
  }

  static func inDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
    let directory = NSTemporaryDirectory() + "/openssl-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: directory) }
    return try body(directory)
  }

  /// `r || s` as DER.
  static func der(_ raw: [UInt8]) -> [UInt8] {
    func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
      var value = Array(bytes.drop { $0 == 0 })
      if value.isEmpty || value[0] >= 0x80 { value.insert(0, at: 0) }
      return [0x02, UInt8(value.count)] + value
    }
    let content = integer(raw.prefix(raw.count / 2)) + integer(raw.suffix(raw.count / 2))
    return [0x30, UInt8(content.count)] + content
  }
}
