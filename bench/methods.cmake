# Five ways to remember a URL.
pkg_check_modules(SQLITE IMPORTED_TARGET sqlite3)
pkg_check_modules(CRYPTO IMPORTED_TARGET libcrypto)
if(SQLITE_FOUND AND CRYPTO_FOUND)
  bench_program(methods PkgConfig::SQLITE PkgConfig::CRYPTO m)
endif()
