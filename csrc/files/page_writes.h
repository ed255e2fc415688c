// What SQLite writes into a database file, without leftovers in the room that pages do not use.
//
// With secure_delete SQLite zeroes what it deletes, but a page out of which it moved rows keeps
// old copies of them between its cell pointers and its cells. A row that is deleted where it lies
// now would live on there. The room is unallocated, so zeros in it change nothing.
#pragma once

#include "files/database_file.h"

namespace ebb {

// From now on whole pages that are written to the file have zeros in their unallocated room; not
// in files of more than 2^24 pages, or with pages of pointers back (PRAGMA auto_vacuum), where a
// page's kind cannot be told by its looks, nor before the first page is there. Returns false, and
// changes nothing, for a file that is not open. Calling it twice is calling it once. The table it
// has lives as long as the process, as SQLite's own do. Safe to call from several threads for
// different files; a file must not be in use meanwhile.
bool write_without_leftovers(DatabaseFile& file);

}  // namespace ebb
