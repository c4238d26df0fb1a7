/// A message for the user.
struct CacheFault: Error, Equatable {
  let what: String
  /// The cause is in the project, so other results may still work.
  var isOfProject = false
}
