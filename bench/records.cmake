# `bench_records`: keys out of CSV and JSON lines beside Miller. bench/records.py --help has the options.
find_package(Python3 COMPONENTS Interpreter QUIET)
if(TARGET seen_command AND Python3_FOUND)
  add_custom_target(bench_records
    COMMAND ${CMAKE_COMMAND} -E env SEEN=$<TARGET_FILE:seen_command>
      ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/records.py
    DEPENDS seen_command USES_TERMINAL)
endif()
