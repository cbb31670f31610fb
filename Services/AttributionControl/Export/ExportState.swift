import AttributionProtocol
import WireJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The arguments of an export that its file depends on.
struct ExportRequest: Sendable, Hashable {
  enum Format: String, Sendable, Hashable, CaseIterable { case jsonl, csv }

  /// The times as they were given: the same text means the same export, even if the times are ages.
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
  let start: Timestamp?
  var end: Timestamp
  /// The token of the next page; nil before the first, and when the export is complete.
  var pageToken: String?
  /// Bytes of the file that are whole pages. Bytes after them belong to a page that was interrupted.
  var bytes: Int64 = 0
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

  /// Reads the stored state of the same request; nil if there is none.
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
