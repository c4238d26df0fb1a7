internal import OpflowBase

/// The verbs of control requests.
///
/// A new one needs a case and a row here, its effect on the run (`OrderVerb.effect`), and the help
/// of its command (`CommandRow.order`).
package enum OrderVerb: String, CaseIterable, Sendable {
  case cancel, pause
  case proceed = "continue"
  case suspend, priority, parallel, retry, skip, approve, reject, close

  package var row: OrderRow {
    switch self {
    case .cancel:
      OrderRow(
        about: .either, effect: .cancels, standing: .drive, undoes: [.suspend], stopsRun: true,
        ofRun: "cancel the run"
      ) { order in
        order.isOfRun
          ? "cancelled the run: what runs is ended; `\(order.resumeCommand())` continues it"
          : "cancelled \(order.tasks)"
      }
    case .pause:
      OrderRow(about: .run, standing: .drive, holdsBack: true) {
        "paused; `\($0.orderCommand(.proceed, []))` goes on"
      }
    case .proceed:
      OrderRow(about: .either, effect: .proceeds, undoes: [.pause, .suspend]) {
        $0.isOfRun ? "continued" : "continued \($0.tasks)"
      }
    case .suspend:
      OrderRow(
        about: .tasks, effect: .suspends, standing: .drive, holdsBack: true,
        phrase: OrderRow.Phrase(short: { _ in "held" }, sentence: { _ in "it is held" })
      ) { order in
        "suspended \(order.tasks); `\(order.orderCommand(.proceed, order.words))` goes on with"
          + (order.count == 1 ? " it" : " them")
      }
    case .priority:
      OrderRow(
        about: .tasks, carries: .number(.priority), standing: .run,
        phrase: OrderRow.Phrase(
          short: { "priority \($0.priority)" }, sentence: { "its priority is \($0.priority)" })
      ) { "set the priority of \($0.tasks) to \($0.carried.number ?? 0)" }
    case .parallel:
      OrderRow(about: .run, carries: .capacity, standing: .drive) {
        "set \(CleanText.string($0.carried.resource)) to \($0.amount)"
      }
    case .retry:
      OrderRow(about: .tasks, effect: .retries, undoes: [.suspend, .cancel]) {
        "set \($0.tasks) to run again"
      }
    case .skip:
      OrderRow(about: .tasks, effect: .skips, standing: .run, undoes: [.suspend, .cancel]) {
        "skipped \($0.tasks)"
      }
    // Approvals end on their own journal lines.
    case .approve:
      OrderRow(about: .tasks, isAnswer: true, standing: .run, undoes: [.reject]) {
        "approved \($0.tasks)"
      }
    case .reject:
      OrderRow(about: .tasks, isAnswer: true, standing: .run, undoes: [.approve]) {
        "rejected \($0.tasks)"
      }
    case .close:
      OrderRow(about: .run, standing: .run) { _ in "closed: the run ends when nothing is left" }
    }
  }
}
