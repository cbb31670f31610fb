import Cryptography
import Logging
import Traces
import WireJSON

#if canImport(Glibc)
  import Glibc
#endif

/// Writes logs to standard error, one JSON object per line. `Documentation/observability.md` lists the fields.
struct JSONLogHandler: LogHandler {
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level
  private let label: String

  init(label: String, level: Logger.Level) {
    self.label = label
    logLevel = level
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    var parts = tm()
    var seconds = time.tv_sec
    gmtime_r(&seconds, &parts)
    var buffer = [CChar](repeating: 0, count: 32)
    let length = strftime(&buffer, buffer.count, "%Y-%m-%dT%H:%M:%S", &parts)
    let stamp = String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let milliseconds = String(1000 + time.tv_nsec / 1_000_000).dropFirst()
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("time")
    writer.string("\(stamp).\(milliseconds)Z")
    writer.key("level")
    writer.string(event.level.rawValue)
    writer.key("service")
    writer.string(label)
    writer.key("message")
    writer.string("\(event.message)")
    if let span = Span.current {
      writer.key("traceId")
      writer.string(span.context.traceID.text)
      writer.key("spanId")
      writer.string(Hex.encode(span.context.spanID))
    }
    let all = metadata.merging(event.metadata ?? [:]) { $1 }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) {
      writer.key(dynamic: key)
      writer.string("\(value)")
    }
    writer.endObject()
    let line = writer.bytes + [UInt8(ascii: "\n")]
    // Each line is one system call, so that lines of several threads do not mix.
    _ = line.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
  }
}
