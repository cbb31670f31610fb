import AttributionProtocol
import Foundation
import Testing
import WireJSON

@testable import attributionctl

@Suite("Files")
struct FileTests {
  /// A temporary file for one test.
  private final class Temporary {
    let path: String
    init(_ text: String) throws {
      path = FileManager.default.temporaryDirectory.appendingPathComponent("ctl-\(UUID().uuidString)").path
      try Data(text.utf8).write(to: URL(fileURLWithPath: path))
    }
    deinit { try? FileManager.default.removeItem(atPath: path) }
  }

  @Test("lines are read with the offset after them, also without a final line end; a line that is too long is skipped")
  func lines() throws {
    let file = try Temporary("a\n\nbb\n" + String(repeating: "x", count: 300_000) + "\nlast")
    var input = try InputFile(file.path)
    #expect(input.size == 300_011)
    #expect(try input.line(limit: 1000) == Array("a".utf8) && input.offset == 2)
    #expect(try input.line(limit: 1000) == [] && input.offset == 3 && input.lineWasWhole)
    #expect(try input.line(limit: 1000) == Array("bb".utf8) && input.offset == 6)
    #expect(try input.line(limit: 1000) == [] && input.offset == 300_007 && !input.lineWasWhole)
    #expect(try input.line(limit: 1000) == Array("last".utf8) && input.offset == 300_011 && input.lineWasWhole)
    #expect(try input.line(limit: 1000) == nil)
    var second = try InputFile(file.path, from: 3)
    #expect(try second.line(limit: 1000) == Array("bb".utf8) && second.offset == 6)
    #expect(throws: CommandFailure.self) { _ = try InputFile(file.path + ".absent") }
  }

  @Test(
    "the kind of a line of receipts is recognised",
    arguments: [
      (#"{"id":"a","appReceipt":"AAAA"}"#, #"{"id":"a","appReceipt":"AAAA"}"#),
      (#"{"id":7,"transactionReceipt":"AAAA"}"#, #"{"id":"7","transactionReceipt":"AAAA"}"#),
      ("MIIB", #"{"id":"line 3","appReceipt":"MIIB"}"#), ("\"MIIB\"\r", #"{"id":"line 3","appReceipt":"MIIB"}"#),
      ("ewoJInNpZ25hdHVyZSI=", #"{"id":"line 3","transactionReceipt":"ewoJInNpZ25hdHVyZSI="}"#), ("{", #"{"id":"line 3"}"#),
      (#"{"id":"\ud800"}"#, #"{"id":"line 3"}"#),
      (#"{"receipt-data":"MIIB","password":"x"}"#, #"{"id":"line 3","appReceipt":"MIIB"}"#),
      (#"{"id":"a","receipt":"MIIB"}"#, #"{"id":"a","appReceipt":"MIIB"}"#),
      (#"{"signedPayload":"a.b.c"}"#, #"{"id":"line 3","appReceipt":"{\"signedPayload\":\"a.b.c\"}"}"#),
      (#"{"id":"a","verifyReceiptResponse":"{}"}"#, #"{"id":"a","appReceipt":"{}"}"#), ("a.b.c", #"{"id":"line 3","appReceipt":"a.b.c"}"#),
      (#"{"status":21002}"#, #"{"id":"line 3","verifyReceiptResponse":{"status":21002}}"#),
      (
        #"{"id":"r","verifyReceiptResponse":{"status":0,"receipt":{"bundle_id":"b","in_app":[{"transaction_id":1,"product_id":"p"}],"x":1},"latest_receipt":"long"}}"#,
        #"{"id":"r","verifyReceiptResponse":{"status":0,"receipt":{"bundle_id":"b","in_app":[{"transaction_id":1}]}}}"#
      ),
    ])
  func receipts(line: String, expected: String) {
    let receipt = ReceiptLine.receipt(Array(line.utf8), number: 3)
    #expect(String(decoding: receipt.json, as: UTF8.self) == expected)
  }

  @Test("an id is shortened to the limit of the call, never within a character")
  func longIds() {
    let receipt = ReceiptLine.receipt(Array("{\"id\":\"\(String(repeating: "é", count: 200))\"}".utf8), number: 1)
    #expect(receipt.id?.utf8.count == 256 && receipt.id?.allSatisfy { $0 == "é" } == true)
  }

  @Test("the progress of a migration can be read back, and the same file has the same name")
  func migrationState() throws {
    var state = MigrationState(migrationId: "m", batch: 7)
    state.offset = 1 << 40
    state.lines = 3
    state.states = ["queued": 2, "failed": 1]
    #expect(MigrationState(json: state.json) == state)
    #expect(MigrationState(json: Array("{}".utf8)) == nil)
    let name = MigrationState.name(size: 5, bundleId: "b", environment: nil, beginning: [1])
    #expect(name == MigrationState.name(size: 5, bundleId: "b", environment: nil, beginning: [1]) && name.utf8.count == 29)
    #expect(name != MigrationState.name(size: 5, bundleId: "b", environment: "Sandbox", beginning: [1]))
  }

  @Test("only transient errors are retried")
  func transientErrors() {
    #expect(RetryingCaller.isTransient(RPCError(.unavailable, "")) && RetryingCaller.isTransient(RPCError(.aborted, "")))
    #expect(RetryingCaller.isTransient(RPCError(.resourceExhausted, "", retryDelay: .seconds(1))))
    #expect(!RetryingCaller.isTransient(RPCError(.resourceExhausted, "")) && !RetryingCaller.isTransient(RPCError(.invalidArgument, "")))
    #expect(!RetryingCaller.isTransient(RPCError(.unauthenticated, "")))
  }

  @Test("CSV quotes fields where needed, disarms formulas, and finds values by their paths")
  func csv() throws {
    let event = try #require(
      try JSONValue(parsing: #"{"id":"a,b","data":{"n":-5,"t":"=1+1","q":"say \"x\"","o":{"p.q":[1,2]},"z":null}}"#).objectValue)
    let line = EventRow.csvLine(event, ["id", "data.n", "data.t", "data.q", "data.o.p.q", "data.z", "none.x"])
    #expect(String(decoding: line, as: UTF8.self) == "\"a,b\",-5,'=1+1,\"say \"\"x\"\"\",\"[1,2]\",,\r\n")
  }

  @Test("an export is resumed only with the same arguments")
  func exportState() throws {
    let request = ExportRequest(range: "1h to ", types: ["t"], filter: EventFilter(apps: ["a"]), format: .csv, columns: ["id"])
    var state = ExportState(request: request, start: nil, end: Timestamp(seconds: 9))
    state.pageToken = "1-2-3"
    state.bytes = 10
    state.events = 2
    let read = try #require(ExportState(json: state.json))
    #expect(read == state && !read.isComplete)
    let file = try Temporary("")
    defer { try? FileManager.default.removeItem(atPath: ExportState.path(of: file.path)) }
    #expect(try ExportState.stored(for: file.path, request) == nil)
    try StoredFile.replace(ExportState.path(of: file.path), with: state.json)
    #expect(try ExportState.stored(for: file.path, request) == state)
    let other = ExportRequest(range: "2h to ", types: ["t"], filter: EventFilter(apps: ["a"]), format: .csv, columns: ["id"])
    #expect(throws: CommandFailure.self) { try ExportState.stored(for: file.path, other) }
  }

  @Test("signed payloads in an event are shown decoded")
  func decoding() throws {
    // {"alg":"none"} and {"a":{"b":1}}, with a third part of sufficient length.
    let jws = "eyJhbGciOiJub25lIn0.eyJhIjp7ImIiOjF9fQ.c2lnbmF0dXJlc2lnbmF0dXJl"
    let decoded = EventText.decoded(["x": .string(jws), "y": ["plain"]])
    #expect(decoded == ["x": ["a": ["b": 1]], "y": ["plain"]])
  }
}
