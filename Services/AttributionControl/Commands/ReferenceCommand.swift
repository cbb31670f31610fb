import ArgumentParser
import WireJSON

/// Prints exit codes and variables for Documentation/reference/attributionctl.py, which generates Documentation/attributionctl.md.
struct ReferenceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reference", abstract: "Exit codes and variables, as JSON.",
    discussion: "Example: attributionctl reference", shouldDisplay: false)

  func run() async throws {
    let codes = ExitStatus.allCases.map { code -> JSONValue in
      ["code": .integer(code.rawValue), "meaning": .string(code.explanation)]
    }
    let doctor = DoctorCode.explanations.map { one -> JSONValue in ["code": .integer(one.code), "meaning": .string(one.meaning)] }
    let variables = ConnectionLayer.variables.map { one -> JSONValue in
      ["name": .string(one.name), "meaning": .string(one.meaning)]
    }
    try StandardOutput.write(
      JSONText.text(["exitCodes": .array(codes), "doctorCodes": .array(doctor), "variables": .array(variables)]))
  }
}
