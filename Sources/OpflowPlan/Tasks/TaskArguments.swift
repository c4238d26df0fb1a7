/// The arguments after `--`, and the task that gets them.
package struct TaskArguments: Equatable, Sendable {
  package var task: TaskID
  package var words: [String]

  package init(task: TaskID, words: [String]) {
    self.task = task
    self.words = words
  }
}
