/// What a worker gave back.
struct Freed {
  /// The task that it has not any more; `none` for none.
  var task = TaskID.none
  /// What that held, where no other task of the worker's holds it now.
  var share: Share?
}

/// What a worker that is gone took with it.
struct Loss {
  /// Why it is gone.
  var complaint: String
  var site: SiteID
  /// It had not said hello, so nothing was started.
  var wasLaunching: Bool
  /// The run goes on without it: that is no fault of its machine.
  var isSpared: Bool
  /// It was the last of too many that did not come up there: no more are launched.
  var isLastTry = false
  /// The task that it ran, or was launched for.
  var current: TaskID
  /// What it was handed, in order.
  var ahead: [TaskID]
  var share: Share?
}
