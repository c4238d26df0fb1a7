/// What stands behind `--` on the command line, for the one task that it names.
package struct TaskArguments: Equatable, Sendable {
  package var task: TaskID
  package var words: [String]

  package init(task: TaskID, words: [String]) {
    self.task = task
    self.words = words
  }
}
