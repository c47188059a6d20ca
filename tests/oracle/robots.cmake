# Random robots.txt files, as an independent program reads them.
if(TARGET seencrawl)
  add_executable(robots_dump ${CMAKE_CURRENT_LIST_DIR}/robots_dump.c)
  target_link_libraries(robots_dump PRIVATE seen_flags seencrawl)
  add_test(NAME oracle.robots COMMAND
    python3 ${CMAKE_CURRENT_LIST_DIR}/robots_rules.py $<TARGET_FILE:robots_dump>)
  set_tests_properties(oracle.robots PROPERTIES TIMEOUT 300)
endif()
