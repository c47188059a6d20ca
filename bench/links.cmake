# bench/links: the link finder against libxml2 and gumbo, where they are installed.
if(TARGET seencrawl)
  pkg_check_modules(BENCH_LINKS QUIET IMPORTED_TARGET libxml-2.0 gumbo)
  if(BENCH_LINKS_FOUND)
    bench_program(links seencrawl PkgConfig::BENCH_LINKS)
  endif()
endif()
