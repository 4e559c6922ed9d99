#include "cli/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>

#include "support/result_matchers.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;
using support::IsError;
using support::IsOk;

class OutputFileTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "tidemark-output-XXXXXX";
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ / name; }
  static std::string ContentOf(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  size_t Files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }

  fs::path folder_;
};

TEST_F(OutputFileTest, AFileAppearsWhenItIsWhole) {
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path("rows")));
  EXPECT_THAT(file.Write("a\n"), IsOk());
  EXPECT_FALSE(fs::exists(Path("rows")));
  EXPECT_THAT(file.Finish(), IsOk());
  EXPECT_EQ(ContentOf(Path("rows")), "a\n");
  EXPECT_EQ(Files(), 1U);
}

TEST_F(OutputFileTest, PiecesOfAllSizesStayInOrder) {
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path("rows")));
  std::string all;
  for (const size_t size : {1U, 300'000U, 2U, 130'000U, 130'000U, 0U, 131'072U, 3U}) {
    const std::string piece(size, static_cast<char>('a' + all.size() % 26));
    EXPECT_THAT(file.Write(piece), IsOk());
    all += piece;
  }
  EXPECT_THAT(file.Finish(), IsOk());
  EXPECT_EQ(ContentOf(Path("rows")), all);
}

TEST_F(OutputFileTest, WithoutAnEndNothingIsLeft) {
  {
    ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path("rows")));
    EXPECT_THAT(file.Write("a\n"), IsOk());
  }
  EXPECT_EQ(Files(), 0U);
}

TEST_F(OutputFileTest, AnOldFileStaysUntilTheNewOneIsWhole) {
  std::ofstream(Path("rows")) << "old";
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path("rows")));
  EXPECT_THAT(file.Write("new"), IsOk());
  EXPECT_EQ(ContentOf(Path("rows")), "old");
  EXPECT_THAT(file.Finish(), IsOk());
  EXPECT_EQ(ContentOf(Path("rows")), "new");
}

TEST_F(OutputFileTest, ALinkIsFollowedNotReplaced) {
  std::ofstream(Path("target")) << "old";
  fs::create_symlink("target", Path("link"));
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path("link")));
  EXPECT_THAT(file.Write("new"), IsOk());
  EXPECT_THAT(file.Finish(), IsOk());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ContentOf(Path("target")), "new");
}

TEST_F(OutputFileTest, ALinkToWhatIsNotThereYetIsFollowed) {
  fs::create_symlink("target", Path("link"));
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path("link")));
  EXPECT_THAT(file.Write("new"), IsOk());
  EXPECT_THAT(file.Finish(), IsOk());
  EXPECT_TRUE(fs::is_symlink(Path("link")));
  EXPECT_EQ(ContentOf(Path("target")), "new");
}

TEST_F(OutputFileTest, WaitingForWhoDoesNotReadCanBeStopped) {
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  std::stop_source stop;
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(path, stop.get_token()));
  std::jthread stopper([&] {
    pollfd asked = {reader, POLLIN, 0};
    poll(&asked, 1, -1);  // something was written
    stop.request_stop();
  });
  EXPECT_THAT(file.Write(std::string(size_t{4} << 20, 'x')),
              IsError(ErrorKind::kCancelled, testing::_));
  close(reader);
}

TEST_F(OutputFileTest, WaitingForAReaderOfAPipeCanBeStopped) {
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(OutputFile::Open(path, stop.get_token()), IsError(ErrorKind::kCancelled, testing::_));
}

TEST_F(OutputFileTest, APipeIsOpenedOnceSomebodyReadsIt) {
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  std::string read;
  std::jthread reader([&] {
    std::ifstream pipe(path);
    std::getline(pipe, read);
  });
  ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(path));
  EXPECT_THAT(file.Write("row\n"), IsOk());
  EXPECT_THAT(file.Finish(), IsOk());
  reader.join();
  EXPECT_EQ(read, "row");
}

TEST_F(OutputFileTest, LinksInACircleAreNoOutput) {
  fs::create_symlink("b", Path("a"));
  fs::create_symlink("a", Path("b"));
  EXPECT_THAT(OutputFile::Open(Path("a")), IsError(ErrorKind::kUnavailable, testing::_));
  EXPECT_TRUE(fs::is_symlink(Path("a")));
}

TEST_F(OutputFileTest, NothingIsWrittenIntoTheTable) {
  fs::create_directories(Path("t/p"));
  std::ofstream(Path("t/p/base")) << "rows";
  fs::create_symlink("t/p/base", Path("link"));
  fs::create_symlink("t", Path("table"));
  for (const auto& [output, table, is_inside] :
       {std::tuple("t/p/base", "t", true), std::tuple("t/p/new", "t", true),
        std::tuple("t", "t", true), std::tuple("link", "t", true),
        std::tuple("t/p/base", "table/", true), std::tuple("t/../t/x", "t", true),
        std::tuple("t/no/folder/x", "t", true), std::tuple("t2", "t", false),
        std::tuple("t/../x", "t", false), std::tuple("x", "nowhere", false)}) {
    SCOPED_TRACE(std::string(output) + " " + table);
    const auto done = CheckOutsideTable(Path(output), Path(table));
    EXPECT_EQ(done.has_value(), !is_inside);
    if (!done) {
      EXPECT_EQ(done.error().kind, ErrorKind::kInvalidArgument);
    }
  }
  EXPECT_THAT(CheckOutsideTable(Path("t/x"), "file://" + Path("t")),
              IsError(ErrorKind::kInvalidArgument, testing::_));
  EXPECT_THAT(CheckOutsideTable("", Path("t")), IsOk());
  EXPECT_THAT(CheckOutsideTable(Path("t/x"), "s3://b/t"), IsOk());
}

TEST_F(OutputFileTest, APipeIsWrittenToAndStaysOne) {
  const std::string path = Path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  fs::create_symlink("pipe", Path("link"));
  const int reader = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  ASSERT_GE(reader, 0);
  for (const char* name : {"pipe", "link"}) {
    ASSERT_OK_ASSIGN(OutputFile file, OutputFile::Open(Path(name)));
    EXPECT_THAT(file.Write("a\n"), IsOk());
    EXPECT_THAT(file.Finish(), IsOk());
    std::array<char, 16> bytes{};
    EXPECT_EQ(read(reader, bytes.data(), bytes.size()), 2) << name;
    EXPECT_TRUE(fs::is_fifo(path)) << name;
  }
  close(reader);
}

TEST_F(OutputFileTest, AFolderIsNoOutput) {
  EXPECT_THAT(OutputFile::Open(folder_), IsError(ErrorKind::kUnavailable, testing::_));
}

}  // namespace
}  // namespace tidemark::cli
