import Cryptography
import Traces
import WireJSON

/// Encodes the body of an export: OTLP's `ExportTraceServiceRequest` in its JSON encoding.
struct OTLPTraces {
  /// The version of the semantic conventions by which attributes are named.
  static let schema = "https://opentelemetry.io/schemas/1.45.0"

  /// The resource attributes of the process, as JSON.
  private let resource: [UInt8]

  init(service: String, settings: TraceSettings, instance: String) {
    var attributes = [
      ("service.name", settings.serviceName ?? service), ("service.namespace", "apple-attribution"),
      ("service.version", BuildInformation.version), ("service.instance.id", instance),
      ("telemetry.sdk.name", "apple-attribution-services"),
      ("telemetry.sdk.language", "swift"), ("telemetry.sdk.version", BuildInformation.version),
    ]
    for pair in settings.resourceAttributes where !(pair.name == "service.name" && settings.serviceName != nil) {
      attributes.removeAll { $0.0 == pair.name }
      attributes.append((pair.name, pair.value))
    }
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("attributes")
    writer.beginArray()
    for (name, value) in attributes { Self.write(name, .text(value), &writer) }
    writer.endArray()
    writer.endObject()
    resource = writer.bytes
  }

  /// The body with these spans.
  func body(_ spans: [FinishedSpan]) -> [UInt8] {
    var writer = JSONWriter(reserving: 1024 + 512 * spans.count)
    writer.beginObject()
    writer.key("resourceSpans")
    writer.beginArray()
    writer.beginObject()
    writer.key("resource")
    writer.raw(resource)
    writer.key("schemaUrl")
    writer.string(Self.schema)
    writer.key("scopeSpans")
    writer.beginArray()
    writer.beginObject()
    writer.key("scope")
    writer.beginObject()
    writer.key("name")
    writer.string("apple-attribution-services")
    writer.key("version")
    writer.string(BuildInformation.version)
    writer.endObject()
    writer.key("schemaUrl")
    writer.string(Self.schema)
    writer.key("spans")
    writer.beginArray()
    for span in spans { Self.write(span, &writer) }
    // Closes `spans`, `scopeSpans` and `resourceSpans` with the objects that contain them.
    for _ in 0..<3 {
      writer.endArray()
      writer.endObject()
    }
    return writer.bytes
  }

  /// The flag that ``isRemoteFlag`` is meaningful (`SPAN_FLAGS_CONTEXT_HAS_IS_REMOTE_MASK`).
  private static let hasRemoteFlag = 0x100
  /// The flag that the parent span is in another process (`SPAN_FLAGS_CONTEXT_IS_REMOTE_MASK`).
  private static let isRemoteFlag = 0x200

  private static func write(_ span: FinishedSpan, _ writer: inout JSONWriter) {
    writer.beginObject()
    // OTLP's JSON encoding writes ids as hexadecimal digits, and not as Base64 like protobuf's JSON mapping.
    writer.key("traceId")
    writer.string(span.context.traceID.text)
    writer.key("spanId")
    writer.string(Hex.encode(span.context.spanID))
    if span.parentID != 0 {
      writer.key("parentSpanId")
      writer.string(Hex.encode(span.parentID))
    }
    writer.key("flags")
    writer.int(Int(span.context.flags) | hasRemoteFlag | (span.isParentRemote ? isRemoteFlag : 0))
    writer.key("name")
    writer.string(span.name)
    writer.key("kind")
    writer.int(span.kind.rawValue)
    writer.key("startTimeUnixNano")
    writer.string(String(span.started))
    writer.key("endTimeUnixNano")
    writer.string(String(span.ended))
    writer.key("attributes")
    writer.beginArray()
    for attribute in span.attributes { write(attribute.name, attribute.value, &writer) }
    writer.endArray()
    writer.key("status")
    writer.beginObject()
    if span.isError {
      writer.key("code")
      // STATUS_CODE_ERROR
      writer.int(2)
    }
    writer.endObject()
    writer.endObject()
  }

  private static func write(_ name: String, _ value: AttributeValue, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("key")
    writer.string(name)
    writer.key("value")
    writer.beginObject()
    switch value {
    case .text(let text):
      writer.key("stringValue")
      writer.string(text)
    case .integer(let number):
      writer.key("intValue")
      writer.string(String(number))
    case .flag(let flag):
      writer.key("boolValue")
      writer.bool(flag)
    }
    writer.endObject()
    writer.endObject()
  }

  /// The number of spans that the collector rejected, by `partialSuccess` in its response.
  static func rejected(in response: [UInt8]) -> Int {
    guard let partial = (try? JSONValue(parsing: response))?["partialSuccess"], let count = partial["rejectedSpans"] else { return 0 }
    return Int(clamping: count.int64Value ?? count.stringValue.flatMap { Int64($0) } ?? 0)
  }
}
