#pragma once

// Linux features that Swift's Glibc module lacks: calls that need _GNU_SOURCE, variadic functions,
// macros, and everything between clone and exec. Uses only types of stdint.h. Unless noted,
// functions return -1 and set errno on failure.

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
