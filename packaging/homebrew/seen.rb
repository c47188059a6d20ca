# Homebrew formula: brew install --build-from-source ./seen.rb
class Seen < Formula
  desc "De-duplicate, compare and crawl: have I seen this before?"
  homepage "https://example.org/seen"
  url "https://example.org/seen/seen-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "cmake" => :build
  depends_on "ninja" => :build
  depends_on "pkg-config" => :build
  depends_on "xxhash" => :build
  depends_on "brotli"
  depends_on "curl"
  depends_on "hiredis"
  depends_on "libidn2"
  depends_on "libpsl"
  depends_on "libsodium"
  depends_on :linux
  depends_on "lz4"
  depends_on "openssl@3"
  depends_on "xz"
  depends_on "zstd"

  uses_from_macos "bzip2"
  uses_from_macos "zlib"

  def install
    system "cmake", "-S", ".", "-B", "build", "-G", "Ninja", "-DSEEN_BUILD_TESTS=OFF", "-DSEEN_BUILD_BENCH=OFF",
           *std_cmake_args
    system "cmake", "--build", "build"
    system "cmake", "--install", "build"
  end

  test do
    assert_equal "a\nb\n", pipe_output("#{bin}/seen uniq -q", "a\nb\na\n", 0)
    assert_match version.to_s, shell_output("#{bin}/seen --version")
  end
end
