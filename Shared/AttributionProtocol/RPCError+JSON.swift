import WireJSON

extension RPCError {
  /// The body of an error answer in Connect's format. Each detail is a binary protobuf message in Base64 (`value`), with the same content
  /// as JSON for people (`debug`).
  public var json: [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("code")
    writer.string(code.rawValue)
    writer.key("message")
    writer.string(message)
    if reason != nil || retryDelay != nil || !fieldViolations.isEmpty {
      writer.key("details")
      writer.beginArray()
      writeDetails(to: &writer)
      writer.endArray()
    }
    writer.endObject()
    return writer.bytes
  }

  private func writeDetails(to writer: inout JSONWriter) {
    if let reason {
      var binary = ProtobufWriter()
      binary.string(1, reason)
      binary.string(2, "attribution")
      let sorted = metadata.sorted { $0.key < $1.key }
      for (key, value) in sorted {
        binary.message(3) { entry in
          entry.string(1, key)
          entry.string(2, value)
        }
      }
      var debug: JSONObject = ["reason": .string(reason), "domain": "attribution"]
      if !sorted.isEmpty {
        debug["metadata"] = .object(JSONObject(sorted.map { JSONObject.Member(key: $0.key, value: .string($0.value)) }))
      }
      Self.detail("google.rpc.ErrorInfo", binary, debug, to: &writer)
    }
    if let retryDelay {
      let (seconds, attoseconds) = retryDelay.components
      let nanos = attoseconds / 1_000_000_000
      var binary = ProtobufWriter()
      binary.message(1) { duration in
        duration.varint(1, UInt64(bitPattern: seconds))
        duration.varint(2, UInt64(nanos))
      }
      let text = nanos == 0 ? "\(seconds)s" : "\(seconds).\(String(nanos + 1_000_000_000).dropFirst())s"
      Self.detail("google.rpc.RetryInfo", binary, ["retryDelay": .string(text)], to: &writer)
    }
    if !fieldViolations.isEmpty {
      var binary = ProtobufWriter()
      for violation in fieldViolations {
        binary.message(1) { message in
          message.string(1, violation.field)
          message.string(2, violation.description)
        }
      }
      let debug = fieldViolations.map {
        JSONValue.object(["field": .string($0.field), "description": .string($0.description)])
      }
      Self.detail("google.rpc.BadRequest", binary, ["fieldViolations": .array(debug)], to: &writer)
    }
  }

  private static func detail(_ type: String, _ binary: ProtobufWriter, _ debug: JSONObject, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("type")
    writer.string(type)
    writer.key("value")
    writer.string(UnpaddedBase64.encode(binary.bytes))
    writer.key("debug")
    writer.object(debug)
    writer.endObject()
  }
}
