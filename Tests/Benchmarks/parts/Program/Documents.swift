import Foundation
import WireJSON

/// JSON beside Foundation's coder: a SKAdNetwork postback, read as a tree and as a type.
struct Documents {
  private struct Postback: Codable {
    var version: String
    var adNetwork: String
    var sourceIdentifier: String
    var app: Int64
    var transaction: String
    var redownload: Bool
    var sourceDomain: String
    var fidelity: Int
    var didWin: Bool
    var conversionValue: Int
    var sequenceIndex: Int
    var signature: String

    enum CodingKeys: String, CodingKey {
      case version
      case adNetwork = "ad-network-id"
      case sourceIdentifier = "source-identifier"
      case app = "app-id"
      case transaction = "transaction-id"
      case redownload
      case sourceDomain = "source-domain"
      case fidelity = "fidelity-type"
      case didWin = "did-win"
      case conversionValue = "conversion-value"
      case sequenceIndex = "postback-sequence-index"
      case signature = "attribution-signature"
    }
  }

  private let bytes: [UInt8]

  init(path: String) throws { bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

  func measure(_ rounds: Rounds) throws {
    let data = Data(bytes)
    let decoder = JSONDecoder()
    let encoder = JSONEncoder()
    let tree = try JSONValue(parsing: bytes)
    let typed = try decoder.decode(Postback.self, from: data)
    try rounds.compare(
      "read JSON",
      ours: {
        for _ in 0..<100 {
          let document = try JSONValue(parsing: bytes)
          precondition(document.objectValue != nil)
        }
        return 100
      },
      library: {
        for _ in 0..<100 {
          let postback = try decoder.decode(Postback.self, from: data)
          precondition(postback.didWin)
        }
        return 100
      })
    try rounds.compare(
      "write JSON",
      ours: {
        for _ in 0..<100 { precondition(!tree.serialized.isEmpty) }
        return 100
      },
      library: {
        for _ in 0..<100 {
          let encoded = try encoder.encode(typed)
          precondition(!encoded.isEmpty)
        }
        return 100
      })
  }
}
