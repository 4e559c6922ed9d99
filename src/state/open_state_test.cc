#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "state/sqlite_session.h"
#include "state/state_store.h"
#include "support/result_matchers.h"

namespace tidemark::state {
namespace {

namespace fs = std::filesystem;
using support::IsError;
using support::IsOk;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SqliteStateTest : public ::testing::Test {
 protected:
  SqliteStateTest() {
    std::string name = fs::temp_directory_path() / "tidemark-state-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~SqliteStateTest() override { fs::remove_all(folder_); }

  Result<std::unique_ptr<StateStore>> Open() { return OpenState({.path = folder_, .url = {}}); }
  std::string file() const { return folder_ + "/tidemark.db"; }
  void Save(const std::string& pipeline) {
    ASSERT_OK_ASSIGN(const auto store, Open());
    PipelineState state;
    state.pipeline = pipeline;
    ASSERT_THAT(store->SavePipelines({&state, 1}), IsOk());
  }
  std::vector<std::string> Saved() {
    const auto store = Open();
    EXPECT_THAT(store, IsOk());
    if (!store) return {};
    const auto loaded = (*store)->LoadPipelines();
    EXPECT_THAT(loaded, IsOk());
    std::vector<std::string> names;
    if (loaded)
      for (const PipelineState& state : loaded->pipelines) names.push_back(state.pipeline);
    return names;
  }
  std::vector<std::string> PutAside() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name.find(".damaged-") != std::string::npos) names.push_back(name);
    }
    return names;
  }

  std::string folder_;
};

TEST_F(SqliteStateTest, AFileThatIsNoDatabaseIsPutAsideAndANewOneBegun) {
  std::ofstream(file()) << "this is not a database, and long enough to be looked at\n"
                        << std::string(5000, 'x');
  EXPECT_THAT(Saved(), IsEmpty());
  EXPECT_THAT(PutAside(), SizeIs(1));
  Save("orders");
  EXPECT_THAT(Saved(), ElementsAre("orders"));
}

TEST_F(SqliteStateTest, AnEmptyFileIsANewState) {
  std::ofstream(file()).flush();
  Save("orders");
  EXPECT_THAT(Saved(), ElementsAre("orders"));
  EXPECT_THAT(PutAside(), IsEmpty());
}

TEST_F(SqliteStateTest, DamagedPagesAreNoticedWhenTheStateIsOpened) {
  {
    ASSERT_OK_ASSIGN(const auto store, Open());
    std::vector<PipelineState> states(200);
    for (size_t i = 0; i < states.size(); ++i) {
      states[i].pipeline = fmt::format("pipeline {}", i);
      states[i].last_report = std::string(500, 'r');
    }
    ASSERT_THAT(store->SavePipelines(states), IsOk());
  }
  // Everything but the first page, which holds the header and the table of contents.
  std::fstream bytes(file(), std::ios::in | std::ios::out | std::ios::binary);
  const auto size = fs::file_size(file());
  ASSERT_GT(size, 40'000u);
  bytes.seekp(4096);
  bytes << std::string(size - 4096, '\x5a');
  bytes.close();
  EXPECT_THAT(Saved(), IsEmpty());
  EXPECT_THAT(PutAside(), SizeIs(1));
}

TEST_F(SqliteStateTest, ATruncatedFileNeverEndsInACrashOrHalfAPipeline) {
  Save("orders");
  std::string bytes;
  {
    std::ifstream in(file(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t length = 0; length < bytes.size(); length += 997) {
    for (const auto& entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    std::ofstream(file(), std::ios::binary) << bytes.substr(0, length);
    // The last page may lack bytes that are zero anyway.
    EXPECT_THAT(Saved(), AnyOf(IsEmpty(), ElementsAre("orders"))) << "length " << length;
  }
}

TEST_F(SqliteStateTest, AMemoryThatCannotBeReadLeavesTheOthersAlone) {
  Save("orders");
  Save("payments");
  {
    ASSERT_OK_ASSIGN(const auto session, OpenSqlite(file()));
    ASSERT_THAT(session->Run("UPDATE tidemark_pipeline SET memory = '{' WHERE pipeline = 'orders'"),
                IsOk());
  }
  ASSERT_OK_ASSIGN(const auto store, Open());
  ASSERT_OK_ASSIGN(const auto loaded, store->LoadPipelines());
  EXPECT_THAT(loaded.pipelines, ElementsAre(Field(&PipelineState::pipeline, "payments")));
  ASSERT_THAT(loaded.findings, SizeIs(1));
  EXPECT_EQ(loaded.findings[0].kind, "unreadable_state");
}

TEST_F(SqliteStateTest, AStateOfANewerReleaseIsLeftAsItIs) {
  Save("orders");
  {
    ASSERT_OK_ASSIGN(const auto session, OpenSqlite(file()));
    ASSERT_THAT(session->Run("INSERT INTO tidemark_schema (steps) VALUES (1000)"), IsOk());
  }
  EXPECT_THAT(Open(), IsError(ErrorKind::kUnsupported, HasSubstr("schema_steps=1000")));
  EXPECT_THAT(PutAside(), IsEmpty());
}

TEST_F(SqliteStateTest, AnotherProcessIsKeptOut) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = Open();
    const char is_open = store ? 'y' : 'n';
    static_cast<void>(::write(ready[1], &is_open, 1) == 1);
    ::pause();
    std::_Exit(0);
  }
  char is_open = 0;
  ASSERT_EQ(::read(ready[0], &is_open, 1), 1);
  EXPECT_EQ(is_open, 'y');
  EXPECT_THAT(Open(), IsError(ErrorKind::kConflict, HasSubstr(file())));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(Open(), IsOk());
}

TEST_F(SqliteStateTest, AKilledWriterLeavesWholeTransactions) {
  constexpr size_t kPipelines = 50;
  constexpr int kKills = 20;
  for (int kill = 0; kill < kKills; ++kill) {
    const pid_t child = ::fork();
    if (child == 0) {
      const auto store = Open();
      if (!store) std::_Exit(1);
      // Every save gives all pipelines the same report.
      for (int round = 0;; ++round) {
        std::vector<PipelineState> states(kPipelines);
        for (size_t i = 0; i < kPipelines; ++i) {
          states[i].pipeline = fmt::format("pipeline {:02}", i);
          states[i].last_report = fmt::format("{} {}", ::getpid(), round);
        }
        if (!(*store)->SavePipelines(states)) std::_Exit(1);
      }
    }
    ::poll(nullptr, 0, 5 + kill * 4);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "writer ended by itself";
    ASSERT_OK_ASSIGN(const auto store, Open());
    ASSERT_OK_ASSIGN(const auto loaded, store->LoadPipelines());
    ASSERT_TRUE(loaded.pipelines.empty() || loaded.pipelines.size() == kPipelines);
    for (const PipelineState& state : loaded.pipelines)
      ASSERT_EQ(state.last_report, loaded.pipelines[0].last_report) << "kill " << kill;
  }
  EXPECT_THAT(PutAside(), IsEmpty());
}

TEST_F(SqliteStateTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_THAT(OpenState({.path = folder_ + "/file/state", .url = {}}),
              IsError(ErrorKind::kUnavailable, HasSubstr("/file/state")));
}

}  // namespace
}  // namespace tidemark::state
