package struct WorkerOffer: Equatable, Sendable {
  /// That its tasks may use at once; at least 1.
  package var cores: Int
  /// Nil if unknown.
  package var memoryBytes: Int64?
  package var actions: WorkerActions

  package init(cores: Int, memoryBytes: Int64? = nil, actions: WorkerActions) {
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.actions = actions
  }
}

/// `actions=` in a worker's hello.
package struct WorkerActions: OptionSet, Equatable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let run = WorkerActions(rawValue: 1)
  package static let download = WorkerActions(rawValue: 2)
  /// Offered by clients.
  package static let block = WorkerActions(rawValue: 4)
  package static let all = WorkerActions(rawValue: 3)

  package static let words: [(action: WorkerActions, word: StaticString)] = [
    (.run, "run"), (.download, "download"), (.block, "block"),
  ]

  /// `run, download`.
  package var text: String {
    Self.words.filter { contains($0.action) }.map { $0.word.description }.joined(separator: ", ")
  }
}
