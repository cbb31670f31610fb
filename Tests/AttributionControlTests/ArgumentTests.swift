import ArgumentParser
import AttributionProtocol
import Testing

@testable import attributionctl

@Suite("Arguments")
struct ArgumentTests {
  private static let now: Int64 = 1_795_600_000_000

  @Test(
    "times are RFC 3339, dates or ages",
    arguments: [
      ("2026-11-20T08:00:00Z", "2026-11-20T08:00:00Z"), ("2026-11-20T08:00:00+01:00", "2026-11-20T07:00:00Z"),
      ("2026-11-20", "2026-11-20T00:00:00Z"), ("2026-11-20T08:00:00", "2026-11-20T08:00:00Z"), ("90s", "2026-11-25T09:45:10Z"),
      ("2h", "2026-11-25T07:46:40Z"), ("7d", "2026-11-18T09:46:40Z"), ("now", "2026-11-25T09:46:40Z"),
    ])
  func times(text: String, expected: String) { #expect(TimeArgument(text, now: Self.now)?.timestamp.text == expected) }

  @Test("invalid times are refused", arguments: ["", "h", "2x", "-1h", "2026-13-01", "1.5h", "yesterday", "99999999h"])
  func noTimes(text: String) { #expect(TimeArgument(text, now: Self.now) == nil) }

  @Test("a part of a type's name selects all types with that part; an unknown word is refused with the nearest")
  func types() throws {
    #expect(try EventSelection.parse(["--type", "notification.rejected"]).types() == ["appstore.notification.rejected.v1"])
    #expect(try EventSelection.parse(["--type", "skadnetwork", "--type", "postback.rejected"]).types().count == 3)
    #expect(try EventSelection.parse([]).types() == [])
    let error = #expect(throws: CommandFailure.self) { try EventSelection.parse(["--type", "notificaton"]).types() }
    #expect(error?.code == 64 && error?.advice == "Did you mean notification?")
  }

  @Test("a filter is sent only if something is selected")
  func filter() throws {
    #expect(try EventSelection.parse([]).filter == nil)
    #expect(
      try EventSelection.parse(["--app", "a", "--app", "b", "--environment", "sandbox"]).filter
        == EventFilter(apps: ["a", "b"], environments: ["sandbox"]))
  }

  @Test(
    "wrong arguments are refused before a service is called",
    arguments: [
      ["queues", "pause", "inbox"], ["queues", "pause"], ["dead-letters", "replay"], ["dead-letters", "replay", "--queue", "intake"],
      ["dead-letters", "purge", "017-0", "--all"], ["dead-letters", "list", "--limit", "0"], ["events", "tail", "--no-follow"],
      ["events", "tail", "--max", "0"], ["events", "export"], ["events", "export", "--file", "f", "--columns", "id"],
      ["events", "export", "--file", "f", "--from", "1h", "--to", "2h"], ["subscriptions", "seek", "a"],
      ["subscriptions", "seek", "a", "--to", "1h", "--to-end"], ["subscriptions", "create", "a", "--form", "binary"],
      ["verify", "--public-key", "k"], ["verify", "--environment", "Xcode"], ["send", "notification"],
      ["send", "session", "--bundle-id", "a"],
      ["send", "postback", "--timeout", "0"], ["recover", "--bundle-id", "a"],
      ["recover", "--bundle-id", "a", "--from", "1h", "--to", "2h"],
      ["migrate", "f"], ["migrate", "-", "--bundle-id", "a"], ["migrate", "f", "--bundle-id", "a", "--batch", "0"],
      ["gaps", "--bundle-id", "a", "--limit", "0"], ["gaps"],
      ["keys", "list", "--state", "old"], ["doctor", "--wait", "-1"], ["doctor", "--notification-url", "https://h"],
      ["doctor", "--bundle-id", "a", "--notification-url", "h"], ["config", "check"], ["config", "check", "f", "--only", "nobody"],
      ["queues", "--url", "verifier"], ["queues", "--url", "nobody=http://h"], ["queues", "--address", "h"],
      ["queues", "--certificate-file", "c"], ["queues", "--output", "xml"], ["profiles", "set", "a", "--profile", "b"], ["nothing"],
    ])
  func wrong(words: [String]) {
    #expect {
      _ = try AttributionControl.parseAsRoot(words)
    } throws: { AttributionControl.exitCode(for: $0).rawValue == 64 }
  }

  @Test("every command has an example in its help, and every option is explained")
  func examples() throws {
    func check(_ type: any ParsableCommand.Type, _ path: [String]) {
      let name = path.joined(separator: " ")
      #expect(type.configuration.discussion.contains("attributionctl \(path.dropFirst().first ?? "")"), "\(name) has no example")
      #expect(!type.configuration.abstract.isEmpty, "\(name) says nothing of itself")
      for child in type.configuration.subcommands + type.configuration.groupedSubcommands.flatMap(\.subcommands) {
        check(child, path + [child.configuration.commandName ?? ""])
      }
    }
    check(AttributionControl.self, ["attributionctl"])
  }

  @Test(
    "a misspelt command is reported with the nearest one",
    arguments: [
      ("qeues", "Did you mean queues?"), ("events tial", "Did you mean tail?"), ("dead_letters list", "Did you mean dead-letters?"),
      ("events xyzzy", "Its commands: export, show, tail."),
    ])
  func misspelt(words: String, advice: String) {
    let failure = AttributionControl.misspelt(words.split(separator: " ").map(String.init))
    #expect(failure?.advice == advice && failure?.code == 64)
  }

  @Test(
    "words that may be arguments or flags are left to the parser",
    arguments: ["", "queues", "queues intake", "--help", "help qeues", "-o", "events", "recover 5", "migrate file"])
  func notMisspelt(words: String) { #expect(AttributionControl.misspelt(words.split(separator: " ").map(String.init)) == nil) }

  @Test("path segments are escaped")
  func escaping() { #expect(SendCommand.escaped("a/b é~") == "a%2Fb%20%C3%A9~") }
}
