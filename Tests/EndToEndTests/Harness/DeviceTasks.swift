/// A manifest of tasks with a GPU each; half of them have `local: true`. A task whose GPU another
/// task holds adds its ID to `twice`; every task adds a line to `trace`. Needs a folder `locks`.
enum DeviceTasks {
  /// - Parameters:
  ///   - machine: shell text in front of the GPU in the name of a lock.
  ///   - mark: the line that a task adds to `trace`.
  ///   - seconds: the duration of a task.
  static func manifest(machine: String = "", mark: String, seconds: Double) -> String {
    let task = """
          resources: { gpu: 1 }
          shell: bash
          run: |
            exec 9> "locks/\(machine)$CUDA_VISIBLE_DEVICES"
            flock -n 9 || echo "$OPFLOW_TASK" >> twice
            echo "\(mark)" >> trace
            sleep \(seconds)
      """
    return """
      tasks:
        far:
          matrix: { n: { range: [1, 12] } }
      \(task)
        here:
          matrix: { n: { range: [1, 12] } }
          local: true
      \(task)

      """
  }
}
