# Links of real and of random pages, compared with gumbo and libxml2.
if(TARGET seencrawl)
  add_executable(links_dump ${CMAKE_CURRENT_LIST_DIR}/links_dump.c)
  target_link_libraries(links_dump PRIVATE seen_flags seencrawl)
  find_program(NODE_PROGRAM NAMES node nodejs)
  if(NODE_PROGRAM)
    add_test(NAME oracle.links_parse5 COMMAND
      ${NODE_PROGRAM} ${CMAKE_CURRENT_LIST_DIR}/links_parse5.js $<TARGET_FILE:links_dump>)
    set_tests_properties(oracle.links_parse5 PROPERTIES TIMEOUT 1200 SKIP_RETURN_CODE 77)
  endif()
  pkg_check_modules(ORACLE_LINKS QUIET IMPORTED_TARGET libxml-2.0 gumbo)
  if(ORACLE_LINKS_FOUND)
    add_executable(links_oracle ${CMAKE_CURRENT_LIST_DIR}/links_oracle.c)
    target_compile_options(links_oracle PRIVATE -Wno-missing-prototypes)
    target_link_libraries(links_oracle PRIVATE seen_flags seencrawl PkgConfig::ORACLE_LINKS)
    add_test(NAME oracle.links COMMAND links_oracle)
    add_test(NAME oracle.links_entities COMMAND
      python3 ${CMAKE_CURRENT_LIST_DIR}/links_entities.py $<TARGET_FILE:links_oracle>
      ${CMAKE_SOURCE_DIR})
    set_tests_properties(oracle.links oracle.links_entities PROPERTIES
      TIMEOUT 1200 SKIP_RETURN_CODE 77)
  else()
    message(WARNING "libxml2 and gumbo are not installed: links are not compared with theirs")
  endif()

  # Random robots.txt files, compared with an independent program.
  add_executable(robots_dump ${CMAKE_CURRENT_LIST_DIR}/robots_dump.c)
  target_link_libraries(robots_dump PRIVATE seen_flags seencrawl)
  add_test(NAME oracle.robots COMMAND
    python3 ${CMAKE_CURRENT_LIST_DIR}/robots_rules.py $<TARGET_FILE:robots_dump>)
  set_tests_properties(oracle.robots PROPERTIES TIMEOUT 1200)
endif()
