internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem

extension AddedFolder {
  func manifestFile(
    _ entry: ExtendEntry, _ located: RunManifest
  ) throws(PreparationError) -> ManifestFile {
    if !entry.copy.isEmpty {
      return ManifestFile(
        bytes: Array(entry.copy.utf8), displayPath: "<added \(entry.id.text)>",
        realPath: located.place(of: entry.manifestPath),
        folder: located.place(of: entry.folder))
    }
    do throws(Errno) {
      var file = ManifestFile(
        bytes: try File.readRegular(manifest, atMost: ManifestFile.mostBytes),
        displayPath: manifest,
        realPath: located.place(of: entry.manifestPath),
        folder: located.place(of: entry.folder))
      file.kept = readKeptFiles()
      return file
    } catch {
      throw .folder(.file(doing: "read", path: manifest, error))
    }
  }
}
