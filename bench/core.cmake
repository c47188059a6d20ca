# The filter core beside libbloom, a hash set and the physical limit.
find_library(BLOOM_LIBRARY bloom)
if(BLOOM_LIBRARY)
  bench_program(core ${BLOOM_LIBRARY} Threads::Threads m)
  target_sources(bench_core PRIVATE core_growing.c)
endif()
