/// A result cannot be kept, or is not there to be brought back; for people.
struct CacheFault: Error, Equatable {
  let what: String
  /// Something of the project is the reason, so that it is no news of the cache as a whole.
  var isOfProject = false
}
