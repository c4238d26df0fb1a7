internal import OpflowCore

/// What a journal says of the plan that its lines are about: a resume may have put another one in its place.
struct PlanOrigin {
  private let key: String?
  private let drive: Int

  init(_ model: RunModel) {
    key = model.resume?.planKey ?? model.open?.planKey
    drive = model.drives
  }

  /// Whether a plan that was opened at this time is to be opened anew at another.
  func isLeft(for later: PlanOrigin, _ plan: Plan) -> Bool {
    // What was added to a run is compiled anew by each resume, and may get other numbers.
    key != later.key || plan.hasRoom && drive != later.drive
  }

  /// Whether it is not this plan; false where nothing is known of one.
  func isOther(than plan: Plan) -> Bool { key.map { $0 != plan.key.description } ?? false }
}
