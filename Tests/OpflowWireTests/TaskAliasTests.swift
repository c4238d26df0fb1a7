import OpflowPlan
import OpflowWire
import Testing

/// A worker that knows its task by the number of an earlier plan.
@Suite struct TaskAliasTests {
  private let alias = TaskAlias(own: TaskID(2), told: TaskID(5))

  @Test func `messages about the task reach it by the number that the worker knows`() {
    #expect(
      alias.told(.stop(TaskID(2), attempt: 1, reason: .unneeded))
        == .stop(TaskID(5), attempt: 1, reason: .unneeded))
    #expect(alias.told(.suspend(TaskID(2), attempt: 1)) == .suspend(TaskID(5), attempt: 1))
    #expect(alias.told(.proceed(TaskID(2), attempt: 1)) == .proceed(TaskID(5), attempt: 1))
    for message in [WorkerMessage.pulse(3), .bye, .stop(TaskID(5), attempt: 1, reason: .cancel)] {
      #expect(alias.told(message) == message)
    }
  }

  @Test func `what the worker says of it is of the task, and of no other one`() {
    let outcome = Outcome(status: .exit(3))
    #expect(
      alias.own(.ended(TaskID(5), attempt: 1, outcome))
        == .ended(TaskID(2), attempt: 1, outcome))
    #expect(
      alias.own(.ready(TaskID(5), attempt: 1, ports: [80]))
        == .ready(TaskID(2), attempt: 1, ports: [80]))
    // It has a number in this plan that the worker cannot know.
    #expect(alias.own(.ended(TaskID(2), attempt: 1, outcome)) == .ended(.none, attempt: 1, outcome))
    #expect(alias.own(.pulse(3)) == .pulse(3))
  }
}
