import AttributionProtocol
import WireJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The arguments of an export that determine the content of its file.
struct ExportRequest: Sendable, Hashable {
  enum Format: String, Sendable, Hashable, CaseIterable { case jsonl, csv }

  /// The times as they were typed. The same text means the same export, although an age such as `24h` is another time in each run.
  let range: String
  let types: [String]
  let filter: EventFilter?
  let format: Format
  let columns: [String]

  var json: JSONObject {
    var object: JSONObject = [
      "range": .string(range), "types": .array(types.map { .string($0) }), "format": .string(format.rawValue),
      "columns": .array(columns.map { .string($0) }),
    ]
    object["filter"] = filter.flatMap { try? JSONValue(parsing: $0.json) }
    return object
  }
}

/// The progress of an export. It is stored beside the file, so that the same command resumes the export.
struct ExportState: Sendable, Hashable {
  let request: JSONObject
  /// The start and the end of the range, as computed by the first run. Nil begins with the oldest event.
  let start: Timestamp?
  var end: Timestamp
  /// The token of the next page; nil before the first, and when the export is complete.
  var pageToken: String?
  /// The number of bytes of completely written pages. Later bytes of the file belong to a page whose writing was interrupted.
  var bytes: Int64 = 0
  /// The number of events in these pages.
  var events: Int64 = 0
  var isComplete = false

  init(request: ExportRequest, start: Timestamp?, end: Timestamp) {
    self.request = request.json
    self.start = start
    self.end = end
  }

  init?(json: [UInt8]) {
    guard let object = try? JSONValue(parsing: json).objectValue, let request = object["request"]?.objectValue,
      let end = object["end"]?.stringValue.flatMap(Timestamp.init(text:)), let bytes = object["bytes"]?.int64Value,
      let events = object["events"]?.int64Value
    else { return nil }
    self.request = request
    start = object["start"]?.stringValue.flatMap(Timestamp.init(text:))
    self.end = end
    pageToken = object["pageToken"]?.stringValue
    self.bytes = bytes
    self.events = events
    isComplete = object["complete"]?.boolValue ?? false
  }

  var json: [UInt8] {
    var object: JSONObject = ["request": .object(request)]
    object["start"] = start.map { .string($0.text) }
    object["end"] = .string(end.text)
    object["pageToken"] = pageToken.map { .string($0) }
    object["bytes"] = .integer(bytes)
    object["events"] = .integer(events)
    object["complete"] = .bool(isComplete)
    return JSONValue.object(object).serialized
  }

  static func path(of file: String) -> String { file + ".export.json" }

  /// Reads the stored state; nil if there is none. Throws if it is the state of another request.
  static func stored(for file: String, _ request: ExportRequest) throws(CommandFailure) -> ExportState? {
    guard let bytes = FileManager.default.contents(atPath: path(of: file)) else { return nil }
    guard let state = ExportState(json: Array(bytes)) else {
      throw CommandFailure(.refusedInput, "\(path(of: file)) cannot be read", advice: "Delete it, or use --restart, to start over.")
    }
    guard state.request == request.json else {
      throw CommandFailure(
        .refusedInput, "\(file) was started with another range, filter or format",
        advice: "Use --restart to start over, or choose another file.")
    }
    return state
  }
}
