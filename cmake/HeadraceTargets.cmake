# How every target of the tree is compiled. One function per kind of target, so that a folder's
# CMakeLists.txt only says what it consists of and what it may use.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(HEADRACE_SANITIZE "" CACHE STRING "Sanitizers for every target: '', 'address,undefined' or 'thread'")
option(HEADRACE_LTO "Link-time optimisation" OFF)

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)

add_library(headrace_flags INTERFACE)
target_include_directories(headrace_flags INTERFACE ${CMAKE_SOURCE_DIR}/src)
target_compile_options(headrace_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  -Woverloaded-virtual -Wundef -Wvla -Werror -fno-strict-aliasing)
if(HEADRACE_SANITIZE)
  target_compile_options(headrace_flags INTERFACE
    -fsanitize=${HEADRACE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(headrace_flags INTERFACE -fsanitize=${HEADRACE_SANITIZE})
  # The check of virtual tables opens a pipe, and takes its failure for a fault: programs that are
  # tested without descriptors left would end there.
  target_compile_options(headrace_flags INTERFACE -fno-sanitize=vptr)
  # clang 14 cannot assemble what its function check puts in front of coroutines.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(headrace_flags INTERFACE -fno-sanitize=function)
  endif()
endif()
if(HEADRACE_LTO)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

# headrace_module(NAME SOURCES... [EXCEPTIONS] USES lib...): the library of one folder of src/.
# Where traffic flows there are no exceptions; only app and config, whose libraries throw at start,
# are built with them.
function(headrace_module name)
  cmake_parse_arguments(ARG "EXCEPTIONS" "" "SOURCES;USES" ${ARGN})
  add_library(headrace_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(headrace_${name} PUBLIC headrace_flags ${ARG_USES})
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(headrace_${name} PRIVATE -fno-exceptions)
  endif()
endfunction()

# headrace_test(NAME SOURCES... USES lib...): a GoogleTest program; each of its tests is one of ctest's.
function(headrace_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;USES;LABELS" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE headrace_flags ${ARG_USES} GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
  # All test programs of a kind can be built by the name of that kind: tests_io, tests_unit.
  foreach(label ${ARG_LABELS})
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
endfunction()

# headrace_test_with_ring(NAME): the test program NAME once more, with sockets received from
# by the ring from the first byte on. Where there is no io_uring ctest shows it as skipped.
function(headrace_test_with_ring name)
  get_test_property(${name} TIMEOUT timeout)
  get_test_property(${name} LABELS labels)
  add_test(NAME ${name}_io_uring COMMAND ${name})
  set_tests_properties(${name}_io_uring PROPERTIES TIMEOUT ${timeout} LABELS "${labels};io_uring"
    ENVIRONMENT "HEADRACE_TEST_ENGINE=io_uring" SKIP_RETURN_CODE 77)
endfunction()

# headrace_fuzz(NAME SOURCE CORPUS USES lib...): a libFuzzer target; ctest runs it over its corpus
# and then for HEADRACE_FUZZ_SECONDS.
set(HEADRACE_FUZZ_SECONDS 60 CACHE STRING "How long ctest lets each fuzz target run")
function(headrace_fuzz name)
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS" "USES" ${ARGN})
  if(NOT HEADRACE_BUILD_FUZZ)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCE})
  target_link_libraries(${name} PRIVATE headrace_flags ${ARG_USES})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  # New inputs go to the build folder; the corpus in the tree is read only.
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/${name}.found)
  add_test(NAME ${name} COMMAND ${name} -max_total_time=${HEADRACE_FUZZ_SECONDS} -timeout=5
    -max_len=20000 ${CMAKE_CURRENT_BINARY_DIR}/${name}.found ${ARG_CORPUS})
  math(EXPR limit "${HEADRACE_FUZZ_SECONDS} + 60")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit} LABELS fuzz)
endfunction()
