// What SQLite appends to a write-ahead log, written in few and long pieces.
//
// SQLite writes each frame in two pieces, its header and its page, by a system call each; a commit
// of eight memories has a hundred of them. Nobody reads a frame before the log's index tells of the
// commit that it belongs to, but the connection that wrote it.
#pragma once

#include <cstddef>

#include "files/database_file.h"

namespace ebb {

// Lets frames that are appended to a log, with pages of `page_size` bytes, wait in RAM once
// `let_frames_wait` allows it, until the one that commits them, or until they are many, or anything
// else is asked of the file; then they are written together. So all of a commit is in the file
// before SQLite tells anybody of it. What cannot be written fails the write that would have ended
// the wait, and with it the transaction: SQLite takes all of it back. Returns false, and changes
// nothing, for a file that is not open. Calling it twice is calling it once. The file must not be
// in use meanwhile; afterwards it is used as SQLite uses files, by one thread at a time. Throws
// bad_alloc, and then changes nothing.
bool gather_frames(DatabaseFile& log, std::size_t page_size);

// Says whether frames may wait, which they may only while SQLite commits: it writes some before
// that where it has no room for them, and may take the transaction back; what waited then would be
// written over what another process appends meanwhile. Forgets what waits: after a commit nothing
// does. Returns false, and changes nothing, for a file whose frames are not gathered.
bool let_frames_wait(DatabaseFile& log, bool may_wait);

}  // namespace ebb
