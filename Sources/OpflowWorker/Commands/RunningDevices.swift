internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The coordinator sends them before the start.
struct RunningDevices {
  private var told: [TaskID: DeviceSet] = [:]
  private let names: [String]

  init(names: [String] = GraphicsProcessors.names) { self.names = names }

  mutating func note(_ order: WorkerOrder) {
    if case .devices(let task, let devices) = order { told[task] = devices }
  }

  /// nil if the task has no GPU.
  mutating func takeVariable(of task: TaskID) throws(WorkerRefusal) -> String? {
    guard !told.isEmpty, let devices = told.removeValue(forKey: task) else { return nil }
    if let missing = devices.numbers.first(where: { $0 >= names.count }) {
      throw WorkerRefusal(
        errorNumber: 0,
        what: "it was given GPU number \(missing), and there are \(names.count) here")
    }
    let own = devices.numbers.map { names[$0] }.joined(separator: ",")
    return "\(GraphicsProcessors.variable)=\(own)"
  }
}
