import AppleAttribution
import Cryptography
import Foundation
import Testing
import WireJSON

/// `Tests/Vectors/attribution/*.json`: bodies with the expected verdicts.
struct PostbackVector: Sendable, CustomTestStringConvertible {
  let id: String
  let kind: String
  let keys: String
  let value: JSONObject
  let expect: JSONObject

  var testDescription: String { id }
  var body: [UInt8] { Array(value["body"]!.stringValue!.utf8) }

  static func file(_ name: String) -> JSONValue {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../Vectors/attribution/\(name)")
    return try! JSONValue(parsing: [UInt8](try! Data(contentsOf: file)), limits: JSONLimits(values: 100_000))
  }

  static func load(_ name: String) -> [PostbackVector] {
    file(name)["cases"]!.arrayValue!.map { entry in
      PostbackVector(
        id: entry["id"]!.stringValue!, kind: entry["kind"]!.stringValue!, keys: entry["keys"]?.stringValue ?? "",
        value: entry.objectValue!, expect: entry["expect"]!.objectValue!)
    }
  }

  static let postbacks = load("postbacks.json") + load("genuine.json")
  static let impressions = load("impressions.json")

  static let testKeys: ApplePublicKeys = {
    let keys = file("postbacks.json")["publicKeys"]!["test"]!
    let p256 = keys["P-256"]!.stringValue!
    let kids = keys["kids"]!.arrayValue!.map { ($0.stringValue!, [p256]) }
    return try! ApplePublicKeys(
      p192: [keys["P-192"]!.stringValue!], p256: [p256], kids: Dictionary(uniqueKeysWithValues: kids))
  }()
}
