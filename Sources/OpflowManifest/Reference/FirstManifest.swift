/// The example of `opflow init`.
package enum FirstManifest {
  package static let text = """
    # What is here to be done, and in which order.
    #
    #   opflow run            all tasks
    #   opflow run test       this task, and what it needs
    #   opflow plan           what would run
    #   opflow resume         go on after a failure, Ctrl-C or a crash
    #   opflow help manifest  what else may stand here

    tasks:
      build:
        desc: put what builds your project in place of this
        run: |
          echo "building"

      test:
        desc: runs when build has succeeded
        needs: [build]
        timeout: 10m
        run: |
          echo "testing"

      lint:
        desc: needs nothing, and so runs beside build
        run: |
          echo "looking at the style"

    """
}
