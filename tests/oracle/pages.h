/* Real pages for comparing tokenizers: documentation of Debian packages. */
#ifndef SEEN_TESTS_ORACLE_PAGES_H
#define SEEN_TESTS_ORACLE_PAGES_H

#include <ftw.h>
#include <glob.h>
#include <stddef.h>

static void visit_documentation(__nftw_func_t visit)
{
    static const char *const usual[] = {
        "/usr/share/doc/openjdk-[0-9]*-jre-headless",
        "/usr/share/doc/postgresql-doc-[0-9]*",
        "/usr/share/doc/python3.[0-9][0-9]",
    };
    glob_t found;
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
        if (glob(usual[i], 0, NULL, &found) != 0)
            continue;
        for (size_t j = 0; j < found.gl_pathc; j++)
            nftw(found.gl_pathv[j], visit, 32, FTW_PHYS);
        globfree(&found);
    }
}

#endif
