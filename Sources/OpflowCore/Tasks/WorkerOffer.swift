/// What a worker offers in its hello.
package struct WorkerOffer: Equatable, Sendable {
  /// Processors that its tasks may use at once; at least 1.
  package var cores: Int
  /// Memory that its tasks may use; nil if unknown.
  package var memoryBytes: Int64?
  package var actions: WorkerActions

  package init(cores: Int, memoryBytes: Int64? = nil, actions: WorkerActions) {
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.actions = actions
  }
}

/// The actions of a worker: `actions=` in its hello.
package struct WorkerActions: OptionSet, Equatable, Sendable {
  package let rawValue: UInt8
  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let run = WorkerActions(rawValue: 1)
  package static let download = WorkerActions(rawValue: 2)
  /// Offered by clients with external tasks.
  package static let block = WorkerActions(rawValue: 4)
  /// The actions of launched workers.
  package static let all = WorkerActions(rawValue: 3)

  static let words: [(action: WorkerActions, word: StaticString)] = [
    (.run, "run"), (.download, "download"), (.block, "block"),
  ]

  /// For messages: `run, download`.
  package var text: String {
    Self.words.filter { contains($0.action) }.map { $0.word.description }.joined(separator: ", ")
  }
}
