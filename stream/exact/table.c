/* The exact table: five entries of 96 bits per cache line. */
#include "stream/exact/table.h"

#include "stream/exact/table_add.h"
#include "stream/exact/table_find.h"
#include "stream/exact/table_grow.h"
