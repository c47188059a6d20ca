# libcurl is what the URL room is measured against.
if(TARGET PkgConfig::CRAWL)
  bench_program(url PkgConfig::CRAWL)
endif()
