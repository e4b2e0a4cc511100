// The C calls that Swift cannot import, and nothing else.
#ifndef C_PURCHASE_SQLITE_SHIM_H
#define C_PURCHASE_SQLITE_SHIM_H

#include <sqlite3.h>

// sqlite3_db_config is variadic. https://sqlite.org/c3ref/c_dbconfig_defensive.html
static inline int purchase_sqlite3_db_config_flag(sqlite3 *db, int option, int on) {
  return sqlite3_db_config(db, option, on, (int *)0);
}

#endif
