#pragma once

// What the kernel offers and Swift's Glibc module does not: calls that need _GNU_SOURCE, variadic
// functions, macros, and everything that runs between clone and exec. Types are those of stdint.h
// only. Unless said otherwise a function returns -1 and sets errno when it fails.

#include "clinux_descriptors.h"
#include "clinux_machine.h"
#include "clinux_poll.h"
#include "clinux_processes.h"
#include "clinux_signals.h"
#include "clinux_sockets.h"
#include "clinux_spawn.h"
#include "clinux_terminal.h"
#include "clinux_thread.h"
#include "clinux_thread_pool.h"
#include "clinux_syncer.h"
#include "clinux_tree.h"
#include "clinux_writer.h"
