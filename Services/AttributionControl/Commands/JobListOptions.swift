import ArgumentParser

/// Options that select the recoveries or migrations of a list.
struct JobListOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Only of this app.", valueName: "id")) var bundleId: String?
  @Option(help: "So many, 1 to 1000.") var limit: Int32 = 100

  func validate() throws { guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") } }
}
