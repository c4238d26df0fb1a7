/// The tables of known keys, made once a compilation.
final class SchemaTables {
  let manifest = KeyTable<ManifestKey>()
  let task = KeyTable<TaskKey>()
  let defaults = KeyTable(TaskKey.ofDefaults)
  let retry = KeyTable<RetryKey>()
  let stop = KeyTable<StopKey>()
  let cache = KeyTable<CacheKey>()
  let service = KeyTable<ServiceKey>()
  let ready = KeyTable<ReadyKey>()
  let need = KeyTable<NeedKey>()
  let include = KeyTable<IncludeKey>()
  let download = KeyTable<DownloadKey>()
  let secret = KeyTable<SecretKey>()
  let input = KeyTable<InputKey>()
  let axis = KeyTable(AxisKey.ofAxes)
  let rows = KeyTable(AxisKey.ofRows)
}
