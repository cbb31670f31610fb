import AttributionProtocol
import Testing
import WireJSON
import Yams

@testable import attributionctl

@Suite("Output")
struct OutputTests {
  @Test("columns are as wide as their widest cell, numbers are right-aligned, and no line ends with a space")
  func table() {
    var table = Table(["name", Table.Column("n", isNumber: true), "state"])
    table.add("a", "1000", Cell("ok", .good))
    table.add("longer", "7", "")
    #expect(
      table.text(colours: false) == """
        NAME       N  STATE
        a       1000  ok
        longer     7

        """)
  }

  @Test("colours enclose only the text, and only if requested")
  func colours() {
    var table = Table(["a", "b"])
    table.add(Cell("x", .bad), "y")
    #expect(table.text(colours: true).contains("\u{1B}[31mx\u{1B}[0m  y\n"))
    #expect(!table.text(colours: false).contains("\u{1B}"))
    #expect(!Terminal.allowsColours(["NO_COLOR": "1"]) && !Terminal.allowsColours(["TERM": "dumb"]))
    #expect(Terminal.allowsColours(["NO_COLOR": "", "TERM": "xterm"]))
  }

  @Test("control characters in data do not reach the terminal")
  func controls() { #expect(Cell("a\u{1B}[2J\u{202E}b\n").text == "a\u{FFFD}[2J\u{FFFD}b\u{FFFD}") }

  @Test("JSON is indented, with the order of members and the digits unchanged")
  func json() throws {
    let value = try JSONValue(parsing: #"{"b":12345678901234567890,"a":[],"c":{"x":[1,"é\n"]}}"#)
    #expect(
      JSONText.text(value) == """
        {
          "b": 12345678901234567890,
          "a": [],
          "c": {
            "x": [
              1,
              "é\\n"
            ]
          }
        }

        """)
  }

  @Test(
    "any text can be read back from YAML",
    arguments: [
      "yes", "null", "~", "0x1F", "1e3", "2026-11-25T00:00:00Z", "", " lead", "a: b", "line\nbreak", "- x", "#c", "é", "\"q\"", "012", "!t",
      "*a",
      "end ", "{", "1_000", "on", "a\u{7}b",
    ])
  func yamlTexts(text: String) throws {
    let yaml = YAMLText.text(.object(["key": .string(text), "list": .array([.string(text), 1, true, .null])]))
    let node = try #require(try Yams.compose(yaml: yaml))
    #expect(node["key"]?.string == text, "\(yaml)")
    let first = try #require(node["list"]?.sequence?.first)
    // It is read as text, even if it looks like another type.
    #expect(first.tag.description.hasSuffix("str") && first.string == text, "\(yaml)")
  }

  @Test("YAML keeps numbers, booleans, null and empty collections")
  func yamlValues() throws {
    let yaml = YAMLText.text(.object(["i": 7, "b": false, "n": .null, "o": [:], "a": []]))
    #expect(yaml == "i: 7\nb: false\nn: null\no: {}\na: []\n")
  }

  @Test(
    "ages are formatted briefly",
    arguments: [
      (0.0, "0.0s"), (4.25, "4.3s"), (42.4, "42s"), (192.0, "3m12s"), (18_420.0, "5h07m"), (183_600.0, "2d03h"), (-1.0, "0.0s"),
    ])
  func ages(seconds: Double, text: String) { #expect(TerminalText.age(seconds) == text) }

  @Test("progress shows part, rate and remaining time; the part of an earlier run does not count for the rate")
  func progress() {
    var progress = Progress(unit: "events", total: 1000, already: 500, now: 100)
    #expect(progress.text(width: 80, now: 100) == "[###############...............]  50 %  500/1000 events")
    progress.advance(to: 600)
    #expect(progress.rate(now: 102) == 50)
    #expect(progress.secondsLeft(now: 102) == 8)
    #expect(progress.text(width: 80, now: 102).hasSuffix("60 %  600/1000 events  50/s  8.0s left"))
    #expect(progress.text(width: 20, now: 102).count <= 20)
    progress.advance(to: 10)
    #expect(progress.done == 600)
    progress.counted = (1500, "events")
    #expect(progress.text(width: 80, now: 102, showsCount: false).hasSuffix("60 %  1500 events  750/s  8.0s left"))
    let unknown = Progress(unit: "events", total: nil, now: 0)
    #expect(unknown.text(width: 80, now: 10) == "0 events")
    #expect(unknown.secondsLeft(now: 10) == nil)
  }

  @Test("each kind of failure of a call has its exit code, and the message names the field")
  func codes() {
    func code(_ code: RPCCode, _ reason: String? = nil) -> Int32 {
      CommandFailure(RPCError(code, "m", reason: reason), service: "verifier at h").code
    }
    // A request that is too large does not become smaller by waiting.
    #expect(code(.resourceExhausted, "REQUEST_TOO_LARGE") == code(.invalidArgument))
    #expect(code(.unauthenticated) == 77 && code(.permissionDenied) == 77)
    #expect(code(.unavailable) == 69 && code(.deadlineExceeded) == 69 && code(.unknown) == 69)
    #expect(code(.notFound) == 3 && code(.invalidArgument) == 65 && code(.outOfRange) == 65)
    #expect(code(.failedPrecondition) == 4 && code(.alreadyExists) == 4 && code(.aborted) == 4)
    #expect(code(.resourceExhausted) == 75 && code(.internal) == 70 && code(.unimplemented) == 70 && code(.canceled) == 130)
    let failure = CommandFailure(
      RPCError(.invalidArgument, "wrong", fieldViolations: [.init(field: "maxEvents", description: "must be 1")]), service: "")
    #expect(failure.message == "wrong; maxEvents: must be 1")
    let same = CommandFailure(RPCError.notFound("no such migration", field: "migrationId"), service: "")
    #expect(same.message == "migrationId: no such migration")
    #expect(Set(ExitStatus.allCases.map(\.rawValue)).isDisjoint(with: DoctorCode.explanations.map(\.code)))
  }
}
