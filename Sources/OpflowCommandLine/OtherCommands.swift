/// Commands about retention, and about opflow itself.
extension CommandRow {
  static var clean: CommandRow {
    CommandRow(
      group: .other, meaning: "remove old runs",
      words: .nothing,
      flags: [.keep, .olderThan, .showRemoval, .color, .directory, .stateDirectory],
      summary: "Remove old runs, with their logs.",
      description: """
        Of each manifest the newest runs stay: as many as its `keep_runs` says, 50 where it says nothing,
        or --keep. The end of each run does the same for its manifest. With --older-than only what is
        older goes, by its last line; with --older-than and no --keep all of that goes.

        What runs now stays, and what cannot be read. Without --older-than a run that did not succeed
        stays for a week, unless a newer one was begun with the same values and tasks.
        """,
      examples: """
          opflow clean                      what is beyond `keep_runs`
          opflow clean --keep 10 -n         show what --keep 10 would remove
          opflow clean --older-than 30d     all that ended 30 days ago or before
          opflow clean --keep 5 --older-than 7d
                                            of those only what is beyond the newest five
        """)
  }

  static var initialize: CommandRow {
    CommandRow(
      group: .other, meaning: "write a first manifest",
      words: .nothing,
      flags: [.file, .directory],
      summary: "Write a first manifest, which runs as it is.",
      description: """
        It is opflow.yaml in this folder, or FILE. What is there already is left as it is, and the exit
        code is then 2. With `-f -` it goes to standard output.
        """,
      examples: """
          opflow init                       write opflow.yaml
          opflow init -C site               the same in another folder
        """)
  }

  static var schema: CommandRow {
    CommandRow(
      group: .other, meaning: "the JSON Schema of a manifest, for editors",
      words: .nothing,
      summary: "Print the JSON Schema of a manifest (draft 7), for editors.",
      description: """
        An editor that knows it completes keys and values, shows what they mean and marks what is wrong.
        With yaml-language-server a manifest names it in its first line:

          # yaml-language-server: $schema=opflow.schema.json

        It never refuses what opflow reads. What only all of a manifest tells, such as a task in `needs`
        that is not there, `opflow check` finds.
        """,
      examples: """
          opflow schema > opflow.schema.json
        """)
  }

  static var completion: CommandRow {
    CommandRow(
      group: .other, meaning: "completion of command lines, for a shell to read",
      words: .shell,
      summary: "Print what a shell reads to complete command lines of opflow.",
      description: """
        It completes commands, flags and their values, manifests, files, tasks, families and their legs,
        tags and runs. What there is, the shell asks this program each time, so that nothing of it is
        ever old.

        bash: a line of ~/.bashrc:        eval "$(opflow completion bash)"
        zsh: a line of ~/.zshrc, behind compinit:
                                          eval "$(opflow completion zsh)"
        fish:
          opflow completion fish > ~/.config/fish/completions/opflow.fish
        """,
      examples: """
          eval "$(opflow completion bash)"  for this shell, at once
        """)
  }

  static var version: CommandRow {
    CommandRow(
      group: .other, meaning: "the version of opflow",
      words: .nothing,
      summary: "Print the version of opflow.")
  }

  static var help: CommandRow {
    CommandRow(
      group: .other, meaning: "this text, or all about a command or a key of the manifest",
      words: .topic,
      summary: "Print the help of opflow, of one of its commands, or of keys of the manifest.",
      examples: """
          opflow help run                   all about a command
          opflow help manifest              the keys of a manifest
          opflow help manifest retry        what a key takes and means, with an example
          opflow help manifest retry.max    a key within another
        """)
  }
}
