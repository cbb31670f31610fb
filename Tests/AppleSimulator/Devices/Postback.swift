import Foundation
import WireJSON

/// A postback that a simulated device sends.
public struct Postback: Sendable {
  /// The JSON body.
  public var body: String
  /// `transaction-id` or `postback-identifier`.
  public var identifier: String
  public var adNetworkID: String
  /// True if the ad network won the attribution; developers get copies of winning postbacks only.
  public var won: Bool
  /// The bodies with the same signed content and other unsigned values, which are also sent.
  public var variants: [String] = []
  /// The text in the body that the signature covers, or the signature itself.
  var protected: String

  /// The body with one changed byte. Without a position, it is a byte that the signature protects, and the body remains valid JSON. With a
  /// position, it is the byte there, and the body may be invalid JSON.
  func corrupted(position: Int?) -> String {
    var bytes = Array(body.utf8)
    if let position {
      bytes[position % bytes.count] ^= 1
    } else if let range = body.range(of: protected) {
      let start = body.utf8.distance(from: body.startIndex, to: range.lowerBound)
      let index = start + protected.utf8.count / 2
      bytes[index] = bytes[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The usual coarse conversion value. Only postbacks of the windows after the first one have it; the first one's have a fine value.
func usualCoarse(_ window: Int64) -> JSONValue? { window > 0 ? .some("high") : .none }
