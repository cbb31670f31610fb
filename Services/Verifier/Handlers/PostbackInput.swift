import AttributionProtocol
import WireJSON

/// A postback in a request: Apple's object, or the body as it was received.
enum PostbackInput {
  case object(JSONObject)
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
