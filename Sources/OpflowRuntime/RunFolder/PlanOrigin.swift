internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan

/// The plan that a journal's lines refer to; a resume may have replaced it.
struct PlanOrigin {
  private let key: String?
  private let drive: Int

  init(_ model: RunModel) {
    key = model.resume?.planKey ?? model.open?.planKey
    drive = model.drives
  }

  func isLeft(for later: PlanOrigin, _ plan: Plan) -> Bool {
    // Each resume compiles added tasks again and may renumber them.
    key != later.key || plan.hasRoom && drive != later.drive
  }

  /// False if the journal names no plan.
  func isOther(than plan: Plan) -> Bool { key.map { $0 != plan.key.description } ?? false }
}
