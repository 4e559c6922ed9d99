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
#include <functional>
#include <iterator>
#include <ostream>
#include <string>
#include <utility>
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
  std::vector<std::string> PutAside(const std::string& why = "damaged") const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      if (name.find("." + why + "-") != std::string::npos && !name.ends_with("-wal"))
        names.push_back(name);
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

PipelineState Named(std::string name) {
  PipelineState state;
  state.pipeline = std::move(name);
  return state;
}

/// What is done to the state while a store is open, and how many files are put aside over it.
struct TakenAway {
  std::string name;
  std::function<void(const std::string& folder)> take;
  size_t aside = 0;
};
void PrintTo(const TakenAway& taken, std::ostream* out) {
  *out << taken.name;
}

class TakenAwayTest : public SqliteStateTest, public ::testing::WithParamInterface<TakenAway> {};

TEST_P(TakenAwayTest, EverythingIsThereForTheNextProcess) {
  {
    ASSERT_OK_ASSIGN(const auto store, Open());
    ASSERT_THAT(store->SavePipelines({{Named("before")}}), IsOk());
    GetParam().take(folder_);
    ASSERT_THAT(store->SavePipelines({{Named("after")}}), IsOk());
    ASSERT_THAT(store->SavePipelines({{Named("later")}}), IsOk());
  }
  EXPECT_THAT(Saved(), ElementsAre("after", "before", "later"));
  EXPECT_THAT(PutAside("replaced"), SizeIs(GetParam().aside));
  EXPECT_THAT(PutAside("damaged"), IsEmpty());
}

TEST_P(TakenAwayTest, SoItIsAfterAKill) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto store = Open();
    if (!store || !(*store)->SavePipelines({{Named("before")}})) std::_Exit(1);
    GetParam().take(folder_);
    if (!(*store)->SavePipelines({{Named("after")}})) std::_Exit(1);
    std::_Exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  EXPECT_THAT(Saved(), ElementsAre("after", "before"));
}

void SaveIn(const std::string& folder, const std::string& pipeline) {
  const auto store = OpenState({.path = folder, .url = {}});
  if (store) static_cast<void>((*store)->SavePipelines({{Named(pipeline)}}));
}

INSTANTIATE_TEST_SUITE_P(
    While, TakenAwayTest,
    ::testing::Values(
        TakenAway{"NothingHappens", [](const std::string&) {}},
        TakenAway{"TheFolderIsDeleted", [](const std::string& folder) { fs::remove_all(folder); }},
        TakenAway{"TheFileIsDeleted",
                  [](const std::string& folder) { fs::remove(folder + "/tidemark.db"); }},
        TakenAway{"TheFolderIsMoved",
                  [](const std::string& folder) {
                    fs::rename(folder, folder + "-moved");
                    fs::remove_all(folder + "-moved");
                  }},
        TakenAway{"AnotherStateIsPutThere",
                  [](const std::string& folder) {
                    fs::remove_all(folder);
                    SaveIn(folder, "of another");
                  },
                  1},
        TakenAway{"SomethingElseIsPutThere",
                  [](const std::string& folder) {
                    fs::remove(folder + "/tidemark.db");
                    std::ofstream(folder + "/tidemark.db") << std::string(5000, 'x');
                  },
                  1}),
    [](const auto& each) { return each.param.name; });

TEST_F(SqliteStateTest, AStateThatIsPutThereMeanwhileIsKeptAside) {
  ASSERT_OK_ASSIGN(const auto store, Open());
  fs::remove_all(folder_);
  Save("of another");
  ASSERT_THAT(store->SavePipelines({{Named("orders")}}), IsOk());
  const auto aside = PutAside("replaced");
  ASSERT_FALSE(aside.empty());
  ASSERT_OK_ASSIGN(const auto session, OpenSqlite(folder_ + "/" + aside[0]));
  ASSERT_OK_ASSIGN(const auto rows, session->Query("SELECT pipeline FROM tidemark_pipeline", {}));
  EXPECT_THAT(rows, ElementsAre(SqlRow{std::string("of another")}));
}

TEST_F(SqliteStateTest, AStateThatAnotherProcessHasBegunInItsPlaceIsLeftToIt) {
  ASSERT_OK_ASSIGN(auto store, Open());
  fs::remove_all(folder_);
  int ready[2], end[2];
  ASSERT_EQ(::pipe(ready), 0);
  ASSERT_EQ(::pipe(end), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const auto other = Open();
    if (!other || !(*other)->SavePipelines({{Named("of another")}})) std::_Exit(1);
    static_cast<void>(::write(ready[1], "y", 1) == 1);
    char none = 0;
    static_cast<void>(::read(end[0], &none, 1) == 1);
    // Killed: what it wrote last is in the log beside the file.
    std::_Exit(0);
  }
  char none = 0;
  ASSERT_EQ(::read(ready[0], &none, 1), 1);
  EXPECT_THAT(store->SavePipelines({{Named("orders")}}),
              IsError(ErrorKind::kConflict, HasSubstr(file())));
  store.reset();
  ASSERT_EQ(::write(end[1], "y", 1), 1);
  ::waitpid(child, nullptr, 0);
  EXPECT_THAT(Saved(), ElementsAre("of another"));
}

TEST_F(SqliteStateTest, AFileInPlaceOfTheFolderIsNamedAndTheStateWaits) {
  {
    ASSERT_OK_ASSIGN(const auto store, Open());
    ASSERT_THAT(store->SavePipelines({{Named("before")}}), IsOk());
    fs::remove_all(folder_);
    std::ofstream(folder_) << "x";
    EXPECT_THAT(store->SavePipelines({{Named("after")}}),
                IsError(ErrorKind::kUnavailable, HasSubstr(folder_)));
    fs::remove(folder_);
    ASSERT_THAT(store->SavePipelines({{Named("after")}}), IsOk());
  }
  EXPECT_THAT(Saved(), ElementsAre("after", "before"));
}

TEST_F(SqliteStateTest, AFolderThatCannotBeMadeIsNamed) {
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_THAT(OpenState({.path = folder_ + "/file/state", .url = {}}),
              IsError(ErrorKind::kUnavailable, HasSubstr("/file/state")));
}

}  // namespace
}  // namespace tidemark::state
