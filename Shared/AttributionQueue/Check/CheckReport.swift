import WireJSON

/// The result of a ``StoreCheck``: counts of all faults, and a list of the first ones.
public struct CheckReport: Sendable {
  public internal(set) var shards = 0
  public internal(set) var messages = 0
  public internal(set) var events = 0
  public internal(set) var keys = 0
  /// The listed faults and notices.
  public private(set) var listed: [StoreFault] = []
  private var found: [StoreRule: Int] = [:]
  private var repaired: [StoreRule: Int] = [:]
  private let maxFaults: Int
  private let repairs: Bool
  private let walkedKeys: Bool

  init(maxFaults: Int, repairs: Bool, walkedKeys: Bool) {
    self.maxFaults = maxFaults
    self.repairs = repairs
    self.walkedKeys = walkedKeys
  }

  mutating func add(_ fault: StoreFault) {
    found[fault.rule, default: 0] += 1
    if fault.isRepaired { repaired[fault.rule, default: 0] += 1 }
    if listed.count < maxFaults { listed.append(fault) }
  }

  /// How often each rule is broken, including repaired faults.
  public func count(_ rule: StoreRule) -> Int { found[rule] ?? 0 }

  /// The number of faults that were not repaired.
  public var faults: Int {
    StoreRule.allCases.reduce(0) { $0 + ($1.isNotice ? 0 : (found[$1] ?? 0) - (repaired[$1] ?? 0)) }
  }

  public var agrees: Bool { faults == 0 }

  private var broken: [StoreRule] { StoreRule.allCases.filter { found[$0] != nil } }
  private var total: Int { found.values.reduce(0, +) }

  /// The report as a table.
  public var text: String {
    var lines: [String] = []
    if !broken.isEmpty {
      let rows = broken.map { [$0.rawValue, $0.isNotice ? "notice" : "fault", "\(count($0))"] + (repairs ? ["\(repaired[$0] ?? 0)"] : []) }
      lines += Self.table([["RULE", "KIND", "FOUND"] + (repairs ? ["REPAIRED"] : [])] + rows) + [""]
      let faultRows = listed.map {
        [$0.rule.rawValue, $0.shard.digits, Self.printable($0.key), Self.printable($0.id), $0.isRepaired ? "repaired" : ""]
      }
      lines += Self.table([["RULE", "SHARD", "KEY", "ID", ""]] + faultRows)
      if total > listed.count { lines.append("… and \(total - listed.count) more") }
      lines.append("")
    }
    lines.append(
      "\(shards) shards, \(messages) messages, \(events) events, \(walkedKeys ? "\(keys) keys" : "names of keys left out"): "
        + (agrees ? "everything agrees" : "\(faults) do not agree"))
    return lines.joined(separator: "\n") + "\n"
  }

  /// The report as JSON.
  public var json: [UInt8] {
    let value = JSONValue.object([
      "agrees": .bool(agrees), "faults": .integer(Int64(faults)), "shards": .integer(Int64(shards)),
      "messages": .integer(Int64(messages)), "events": .integer(Int64(events)),
      "keys": walkedKeys ? .integer(Int64(keys)) : .null,
      "rules": .object(
        JSONObject(
          broken.map { rule in
            JSONObject.Member(
              key: rule.rawValue,
              value: .object([
                "kind": .string(rule.isNotice ? "notice" : "fault"), "found": .integer(Int64(count(rule))),
                "mended": .integer(Int64(repaired[rule] ?? 0)),
              ]))
          })),
      "listed": .array(
        listed.map {
          .object([
            "rule": .string($0.rule.rawValue), "shard": .integer(Int64($0.shard.index)), "key": .string($0.key), "id": .string($0.id),
            "mended": .bool($0.isRepaired),
          ])
        }),
      "left": .integer(Int64(total - listed.count)),
    ])
    return value.serialized
  }

  /// The lines of a table whose columns are as wide as their longest cells.
  private static func table(_ rows: [[String]]) -> [String] {
    let widths = rows.reduce(into: [Int]()) { widths, row in
      for (index, cell) in row.enumerated() {
        if index < widths.count { widths[index] = max(widths[index], cell.count) } else { widths.append(cell.count) }
      }
    }
    return rows.map { row in
      var line = row.enumerated().map { index, cell in cell + String(repeating: " ", count: widths[index] - cell.count) }
        .joined(separator: "  ")
      while line.last == " " { line.removeLast() }
      return line
    }
  }

  /// Escapes control characters: names written by hand or by other programs may contain terminal control sequences.
  private static func printable(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 32 || (127..<160).contains($0.value) ? "?" : $0 }))
  }
}
