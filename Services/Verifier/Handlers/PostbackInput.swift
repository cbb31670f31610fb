import AttributionProtocol
import WireJSON

/// A postback in a request of `VerifySKAdNetworkPostback` or `VerifyAdAttributionKitPostback`.
enum PostbackInput {
  /// Apple's object, from the field `postback`.
  case object(JSONObject)
  /// The body as Apple sent it, from the field `postbackText`.
  case text([UInt8])

  init(_ object: JSONObject?, _ text: String?) throws(RPCError) {
    switch (object, text) {
    case (let object?, nil): self = .object(object)
    case (nil, let text?): self = .text(Array(text.utf8))
    case (nil, nil): throw .invalidArgument(field: "postback", "is missing; postback or postbackText is needed")
    default: throw .invalidArgument(field: "postbackText", "must not be given together with postback")
    }
  }
}
