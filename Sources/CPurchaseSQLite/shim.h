// The C calls that Swift cannot import, and nothing else.
#ifndef C_PURCHASE_SQLITE_SHIM_H
#define C_PURCHASE_SQLITE_SHIM_H

#include <sqlite3.h>

// sqlite3_db_config is variadic. https://sqlite.org/c3ref/c_dbconfig_defensive.html
static inline int purchase_sqlite3_db_config_flag(sqlite3 *db, int option, int on) {
  return sqlite3_db_config(db, option, on, (int *)0);
}

// sqlite3_config is variadic. Options with one integer: https://sqlite.org/c3ref/c_config_covering_index_scan.html
static inline int purchase_sqlite3_config_flag(int option, int on) {
  return sqlite3_config(option, on);
}

#endif
