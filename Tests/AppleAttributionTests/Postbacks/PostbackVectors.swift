import AppleAttribution
import Cryptography
import Foundation
import Testing
import WireJSON

/// `Tests/Vectors/attribution/*.json`: bodies with the expected verdicts.
struct PostbackVector: Sendable, CustomTestStringConvertible {
  let id: String
  let kind: String
  /// The keys of Apple's that sign: the published ones, or the test keys of the file.
  let keys: ApplePublicKeys
  let value: JSONObject
  let expect: JSONObject

  var testDescription: String { id }
  var body: [UInt8] { Array(value["body"]!.stringValue!.utf8) }

  static func file(_ name: String) -> JSONValue {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Vectors/attribution/\(name)")
    return try! JSONValue(parsing: [UInt8](try! Data(contentsOf: file)), limits: JSONLimits(values: 100_000))
  }

  static func load(_ name: String) -> [PostbackVector] {
    let file = Self.file(name)
    let testKeys = Self.testKeys(file)
    return file["cases"]!.arrayValue!.map { entry in
      PostbackVector(
        id: entry["id"]!.stringValue!, kind: entry["kind"]!.stringValue!,
        keys: entry["keys"]?.stringValue == "test" ? testKeys! : .published,
        value: entry.objectValue!, expect: entry["expect"]!.objectValue!)
    }
  }

  static let postbacks = load("postbacks.json") + load("unsigned-values.json") + load("genuine.json")
  static let impressions = load("impressions.json")

  /// The test keys of a file; nil if it has none.
  private static func testKeys(_ file: JSONValue) -> ApplePublicKeys? {
    guard let keys = file["publicKeys"]?["test"] else { return nil }
    let p256 = keys["P-256"]!.stringValue!
    let kids = keys["kids"]!.arrayValue!.map { ($0.stringValue!, [p256]) }
    return try! ApplePublicKeys(
      p192: [keys["P-192"]!.stringValue!], p256: [p256], kids: Dictionary(uniqueKeysWithValues: kids))
  }
}
