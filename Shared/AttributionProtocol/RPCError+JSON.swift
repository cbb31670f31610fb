import WireJSON

extension RPCError {
  /// The error's body, with its details as binary protobuf messages in Base64 and, for readers, as JSON beside them.
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

  /// Reads an answer that is not 200: the code is the body's, or derived from the status if the body has none.
  public init(body: [UInt8], httpStatus: Int) {
    self.init(RPCCode(inferredFrom: httpStatus), "the answer has status \(httpStatus) and no error body")
    guard let object = try? JSONValue(parsing: body).objectValue,
      let code = object["code"]?.stringValue.flatMap(RPCCode.init)
    else {
      return
    }
    self.code = code
    message = object["message"]?.stringValue ?? ""
    for detail in object["details"]?.arrayValue ?? [] {
      guard let type = detail["type"]?.stringValue, let value = detail["value"]?.stringValue,
        let bytes = UnpaddedBase64.decode(value)
      else { continue }
      read(detail: type, ProtobufFields(bytes))
    }
  }

  private mutating func read(detail type: String, _ fields: ProtobufFields) {
    switch type {
    case "google.rpc.ErrorInfo":
      reason = fields.string(1)
      for entry in fields.messages(3) {
        if let key = entry.string(1) { metadata[key] = entry.string(2) ?? "" }
      }
    case "google.rpc.RetryInfo":
      let duration = fields.messages(1).first
      let seconds = Int64(bitPattern: duration?.varint(1) ?? 0)
      let nanos = Int64(bitPattern: duration?.varint(2) ?? 0)
      retryDelay = .seconds(seconds) + .nanoseconds(nanos)
    case "google.rpc.BadRequest":
      fieldViolations = fields.messages(1).map {
        FieldViolation(field: $0.string(1) ?? "", description: $0.string(2) ?? "")
      }
    default: break
    }
  }
}
