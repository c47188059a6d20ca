# `bench_crawl` needs nginx, wget and a large documentation package: see bench/crawl.sh.
if(TARGET seencrawl AND TARGET seen_command)
  add_custom_target(bench_crawl
    COMMAND ${CMAKE_COMMAND} -E env SEEN=$<TARGET_FILE:seen_command> ${CMAKE_CURRENT_SOURCE_DIR}/crawl.sh
    DEPENDS seen_command USES_TERMINAL)
endif()
