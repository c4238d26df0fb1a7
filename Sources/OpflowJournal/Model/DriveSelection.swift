package struct DriveSelection: Equatable, Sendable {
  package var only: [String]
  package var skip: [String]

  package init(only: [String], skip: [String]) {
    self.only = only
    self.skip = skip
  }
}
