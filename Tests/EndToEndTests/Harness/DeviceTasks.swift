/// A manifest of tasks with a GPU each, of which half stay on opflow's own machine. What has one
/// that another task has writes itself into `twice`, all into `trace`; there is to be a folder
/// `locks`.
enum DeviceTasks {
  /// - Parameters:
  ///   - machine: in a shell, what comes before the GPU in a lock's name.
  ///   - mark: what a task writes into `trace`.
  ///   - seconds: that it takes.
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
