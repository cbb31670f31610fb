import ArgumentParser
import AttributionClient
import AttributionProtocol
import ServiceRuntime
import WireJSON

#if canImport(Glibc)
  import Glibc
#endif

struct EventsExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write the events of a time range to a file, as JSON Lines or CSV.",
    discussion: """
      Events are written in the order of publication. No subscription is changed. The progress is stored in FILE.export.json: the same \
      command resumes from there and writes no event twice. --columns lists paths into the event, such as data.reason.

      Examples:
        attributionctl events export --from 24h --file day.jsonl
        attributionctl events export --from 2026-11-01 --to 2026-12-01 --type postback --format csv --file november.csv
        attributionctl events export --from 1h --format csv --columns id,time,data.postback.app-id --file - | column -ts,
      """)

  private static let eventsPerPage: Int32 = 1000

  @Option(help: ArgumentHelp("Start of the range (default: the oldest event): RFC 3339, a date, or an age such as 24h.", valueName: "time"))
  var from: TimeArgument?
  @Option(help: ArgumentHelp("End of the range, exclusive (default: now).", valueName: "time")) var to: TimeArgument?
  @Option(help: ArgumentHelp("The file, or - for standard output, which cannot be resumed.", valueName: "file"), completion: .file())
  var file: String
  @Option(help: "jsonl or csv.") var format = ExportRequest.Format.jsonl
  @Option(help: ArgumentHelp("For CSV: paths into the event, separated by commas.", valueName: "paths")) var columns: String?
  @Flag(help: "Start over and replace the file.") var restart = false
  @Flag(help: "Only show what would be written.") var dryRun = false
  @OptionGroup var selection: EventSelection
  @OptionGroup(title: "Connection") var options: ConnectionOptions

  func validate() throws {
    if columns != nil, format != .csv { throw ValidationError("--columns requires --format csv.") }
    if let from, let to, to.timestamp <= from.timestamp { throw ValidationError("--to must be later than --from.") }
  }

  func run() async throws {
    let connection = try Connection(options)
    let request = ExportRequest(
      range: "\(from?.text ?? "") to \(to?.text ?? "")", types: try selection.types(), filter: selection.filter, format: format,
      columns: format == .csv ? columns?.split(separator: ",").map(String.init) ?? EventRow.columns : [])
    let stored = restart || file == "-" ? nil : try ExportState.stored(for: file, request)
    // An export that ends in the future could not be complete before that time, so it ends now.
    let now = Timestamp(millisecondsSince1970: WallClock.now())
    let state = stored ?? ExportState(request: request, start: from?.timestamp, end: min(to?.timestamp ?? now, now))
    guard !dryRun else {
      let response = try await Self.page(connection, request, state, limit: 1)
      let isEmpty = response.events.isEmpty && response.nextPageToken == nil
      return try connection.printer.show(
        [
          "dryRun": true, "file": .string(file), "resumed": .bool(stored != nil), "already": .integer(state.events),
          "end": .string(state.end.text),
        ]
      ) {
        Record([
          ("dry run", Cell(isEmpty ? "there are no matching events" : "events up to \(state.end.text) would be written to \(file)")),
          ("already written", Cell("\(state.events)")),
        ])
      }
    }
    if state.isComplete { return try printState(connection.printer, state, "is already complete") }
    if file != "-" { try refuseOverwriting(stored) }
    let path = file
    let finished = Box(state)
    try await Interruptible.run {
      try await Self.write(connection, request, state, to: path) { finished.value = $0 }
    }
    try printState(connection.printer, finished.value, stored == nil ? "was written" : "was completed")
  }

  private func refuseOverwriting(_ stored: ExportState?) throws(CommandFailure) {
    guard stored == nil, !restart, access(file, F_OK) == 0 else { return }
    throw CommandFailure(.cannotWrite, "\(file) already exists and was not written by this export", advice: "Use --restart to replace it.")
  }

  private func printState(_ printer: Printer, _ state: ExportState, _ outcome: String) throws {
    guard file != "-" else { return printer.note(TerminalText.count(state.events, "event")) }
    try printer.show([
      "file": .string(file), "events": .integer(state.events), "bytes": .integer(state.bytes), "end": .string(state.end.text),
    ]) {
      Record([("file", Cell("\(file) \(outcome)")), ("events", Cell("\(state.events)")), ("up to", Cell(state.end.text))])
    }
  }

  private static func page(
    _ connection: Connection, _ request: ExportRequest, _ state: ExportState, limit: Int32
  ) async throws(CommandFailure) -> ListEventsResponse {
    try await connection.ask(.verifier) { () throws(RPCError) in
      try await connection.client.events.listEvents(
        ListEventsRequest(
          types: request.types, filter: request.filter, startTime: state.start, endTime: state.end, maxEvents: limit,
          pageToken: state.pageToken))
    }
  }

  /// Writes page by page and stores the state after each. `didWrite` gets the state after each page.
  private static func write(
    _ connection: Connection, _ request: ExportRequest, _ initial: ExportState, to file: String, didWrite: (ExportState) -> Void
  ) async throws {
    var state = initial
    let descriptor = file == "-" ? STDOUT_FILENO : try openStored(file, state)
    defer { if descriptor != STDOUT_FILENO { close(descriptor) } }
    var line: ProgressLine?
    defer { line?.end() }
    while true {
      try Task.checkCancellation()
      let response = try await page(connection, request, state, limit: eventsPerPage)
      var bytes: [UInt8] = []
      if request.format == .csv, state.bytes == 0 { bytes += EventRow.header(request.columns) }
      for event in response.events {
        bytes += request.format == .csv ? EventRow.csvLine(event, request.columns) : EventRow.jsonLine(event)
      }
      if descriptor == STDOUT_FILENO {
        try StandardOutput.write(bytes)
      } else {
        try StoredFile.write(bytes, to: descriptor, path: file)
      }
      state.bytes += Int64(bytes.count)
      state.events += Int64(response.events.count)
      state.pageToken = response.nextPageToken
      state.isComplete = response.nextPageToken == nil
      // If this machine's clock is ahead of Redis' clock, events can still be published before `end`. So the end is corrected.
      if state.isComplete, let reached = response.reached { state.end = min(state.end, reached) }
      if descriptor != STDOUT_FILENO {
        // The file is on disk before the state is stored, because the state must not count bytes that a crash could lose.
        guard fsync(descriptor) == 0 else { throw StoredFile.writeFailure(file) }
        try StoredFile.replace(ExportState.path(of: file), with: state.json)
      }
      didWrite(state)
      show(&line, state, response, events: state.events - initial.events)
      if state.isComplete { return }
    }
  }

  /// Shows the exported part of the time range and the rate of events.
  private static func show(_ line: inout ProgressLine?, _ state: ExportState, _ response: ListEventsResponse, events: Int64) {
    let first = state.start ?? response.events.first?["time"]?.stringValue.flatMap(Timestamp.init(text:))
    guard let reached = response.reached, let first else { return }
    let span = Double(state.end.millisecondsSince1970 - first.millisecondsSince1970) / 1000
    if line == nil { line = ProgressLine(unit: "", total: max(1, span), showsCount: false) }
    line?.progress.counted = (Double(events), "events")
    line?.advance(to: min(span, Double(reached.millisecondsSince1970 - first.millisecondsSince1970) / 1000))
  }

  /// Opens the file. The first run stores the state before it creates the file. Otherwise, if it were killed before its first page, the
  /// next run would refuse the file as written by another program.
  private static func openStored(_ file: String, _ state: ExportState) throws(CommandFailure) -> Int32 {
    guard state.bytes == 0 else { return try openTruncated(file, state) }
    try StoredFile.replace(ExportState.path(of: file), with: state.json)
    do throws(CommandFailure) { return try openTruncated(file, state) } catch {
      StoredFile.remove(ExportState.path(of: file))
      throw error
    }
  }

  /// Opens the file and removes the bytes of a page that was not written completely.
  private static func openTruncated(_ file: String, _ state: ExportState) throws(CommandFailure) -> Int32 {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StoredFile.writeFailure(file) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_size >= state.bytes else {
      close(descriptor)
      throw CommandFailure(.refusedInput, "\(file) is shorter than what this export has written", advice: "Use --restart to start over.")
    }
    guard ftruncate(descriptor, off_t(state.bytes)) == 0, lseek(descriptor, 0, SEEK_END) >= 0 else {
      close(descriptor)
      throw StoredFile.writeFailure(file)
    }
    return descriptor
  }

  /// Passes the last state from the export task to the command.
  private final class Box: @unchecked Sendable {  // written by one task, read after that task has ended
    var value: ExportState
    init(_ value: ExportState) { self.value = value }
  }
}

extension ExportRequest.Format: ExpressibleByArgument {}
