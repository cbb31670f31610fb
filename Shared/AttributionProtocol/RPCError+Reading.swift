import WireJSON

// The client's side of an error answer, whose status is not 200. `RPCError+JSON.swift` is the server's side.

extension RPCError {
  /// Reads the error of an answer whose status is not 200. If the body has no known code, the code is derived from the status.
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

extension RPCCode {
  /// The code that a client derives from the HTTP status of an answer without a valid error body, such as that of a proxy. The table is
  /// that of Connect's protocol.
  public init(inferredFrom status: Int) {
    self =
      switch status {
      case 400: .internal
      case 401: .unauthenticated
      case 403: .permissionDenied
      case 404: .unimplemented
      case 429, 502, 503, 504: .unavailable
      default: .unknown
      }
  }
}
