# `bench_sets`: seen common beside wc and comm. bench/sets.py --help has the options.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(TARGET seen_command AND Python3_FOUND)
  add_custom_target(bench_sets
    COMMAND ${CMAKE_COMMAND} -E env SEEN=$<TARGET_FILE:seen_command> GEN=$<TARGET_FILE:bench_gen>
      ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/sets.py
    DEPENDS seen_command bench_gen USES_TERMINAL)
endif()
