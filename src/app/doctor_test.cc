#include "app/doctor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "http/router.h"
#include "http/server.h"
#include "storage/memory_store.h"

namespace tidemark::app {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::chrono_literals;

constexpr const char* kProperties =
    "hoodie.table.name=t\nhoodie.table.type=COPY_ON_WRITE\nhoodie.table.version=6\n"
    "hoodie.timeline.layout.version=1\n";
constexpr const char* kCommit =
    R"({"partitionToWriteStats":{},"compacted":false,)"
    R"("extraMetadata":{"deltastreamer.checkpoint.key":"orders,0:1"},"operationType":"UPSERT"})";

auto Check(const std::string& name, CheckOutcome outcome) {
  return AllOf(Field(&DoctorCheck::name, name), Field(&DoctorCheck::outcome, outcome));
}

/// Pipelines on one cluster that does not answer.
class DoctorTest : public ::testing::Test {
 protected:
  DoctorTest() {
    config_.files.Add("tidemark.yaml");
    config_.clusters["main"] = {"main", {"dead:9092", {}}};
  }

  void AddPipeline(const std::string& name) {
    const std::string uri = "memory://doctor_" + name;
    auto store = storage::OpenStore(uri, {});
    ASSERT_TRUE((*store)->Put(".hoodie/hoodie.properties", kProperties, {}).has_value());
    ASSERT_TRUE((*store)->Put(".hoodie/20240101120000123.commit", kCommit, {}).has_value());
    PipelineConfig& pipeline = config_.pipelines.emplace_back();
    pipeline.spec.name = name;
    pipeline.spec.table = uri;
    pipeline.spec.cluster = "main";
  }

  std::vector<Diagnosis> Diagnose(unsigned at_once = 1) {
    FreshnessRunOptions options;
    options.tables_at_once = at_once;
    return DiagnoseAll(config_, config_.pipelines, options, edges_);
  }

  Config config_;
  std::atomic<int> clusters_asked_ = 0;
  std::atomic<int> stores_asked_ = 0;
  bool is_store_dead_ = false;
  FreshnessEdges edges_{
      .open_store = [this](const std::string& uri, const storage::StoreOptions& options)
          -> Result<std::unique_ptr<storage::ObjectStore>> {
        ++stores_asked_;
        if (is_store_dead_) return Fail(ErrorKind::kUnavailable, "no route");
        return storage::OpenStore(uri, options);
      },
      .open_probe = [this](const ClusterConfig&) -> Result<std::unique_ptr<kafka::PartitionProbe>> {
        ++clusters_asked_;
        return Fail(ErrorKind::kUnavailable, "connection refused");
      },
      .columns = []() -> Result<const lake::ColumnReader*> {
        return Fail(ErrorKind::kUnavailable, "no columnar module in this test");
      },
      .clock = nullptr,
  };
};

TEST_F(DoctorTest, AClusterThatDoesNotAnswerIsAskedOnce) {
  for (const char* name : {"a", "b", "c"}) AddPipeline(name);
  const auto diagnoses = Diagnose();
  EXPECT_EQ(clusters_asked_, 1);
  ASSERT_EQ(diagnoses.size(), 3U);
  for (const Diagnosis& diagnosis : diagnoses) {
    EXPECT_THAT(diagnosis.checks, Contains(Check("checkpoint", CheckOutcome::kOk)));
    EXPECT_THAT(diagnosis.checks, Contains(Check("cluster", CheckOutcome::kFailed)));
  }
  EXPECT_THAT(diagnoses[2].checks.back().detail,
              AllOf(HasSubstr("connection refused"), HasSubstr("not asked again")));
}

TEST_F(DoctorTest, DiagnosesComeInTheOrderOfThePipelinesHoweverManyAtOnce) {
  for (int i = 0; i < 40; ++i) AddPipeline("p" + std::to_string(i));
  const auto diagnoses = Diagnose(8);
  ASSERT_EQ(diagnoses.size(), 40U);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(diagnoses[i].subject, "p" + std::to_string(i));
  EXPECT_LE(clusters_asked_, 8);
}

TEST_F(DoctorTest, ABucketThatDoesNotAnswerIsAskedOnceAndAFolderAlways) {
  is_store_dead_ = true;
  for (const char* table : {"s3://lake/a", "s3://lake/b", "s3://other/c", "/t/d", "/t/e"}) {
    config_.pipelines.emplace_back().spec.table = table;
  }
  const auto diagnoses = Diagnose();
  EXPECT_EQ(stores_asked_, 4);
  for (const Diagnosis& diagnosis : diagnoses)
    EXPECT_THAT(diagnosis.checks, Contains(Check("store", CheckOutcome::kFailed)));
}

TEST_F(DoctorTest, AnIntervalThatIsTooLongForTheSlaIsTold) {
  AddPipeline("a");
  const auto has_warning = [&](Milliseconds interval, Milliseconds sla) {
    config_.pipelines[0].interval = interval;
    config_.pipelines[0].spec.sla = sla;
    const auto diagnoses = Diagnose();
    return testing::Matches(Contains(Check("interval", CheckOutcome::kWarning)))(
        diagnoses[0].checks);
  };
  EXPECT_FALSE(has_warning(15min, 30min));
  EXPECT_TRUE(has_warning(15min + 1ms, 30min));
  config_.files = {};
  EXPECT_FALSE(has_warning(1h, 30min)) << "a single table is looked at once";
}

/// A folder that goes away, and a configuration of the daemon's own sections.
class DaemonDoctorTest : public ::testing::Test {
 protected:
  DaemonDoctorTest() {
    std::string name = fs::temp_directory_path() / "tidemark-doctor-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~DaemonDoctorTest() override { fs::remove_all(folder_); }

  std::vector<DoctorCheck> Checks() const { return DiagnoseDaemon(config_, 10s).checks; }

  fs::path folder_;
  Config config_;
};

TEST_F(DaemonDoctorTest, NothingIsSaidWithoutItsSections) {
  EXPECT_THAT(Checks(), IsEmpty());
}

TEST_F(DaemonDoctorTest, AStateThatIsNotThereYetIsNotMade) {
  config_.state = state::StateOptions{.path = folder_ / "a/b", .url = {}};
  EXPECT_THAT(Checks(), Contains(Check("state", CheckOutcome::kOk)));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(DaemonDoctorTest, AStateIsWholeHeldOrDamaged) {
  config_.state = state::StateOptions{.path = folder_, .url = {}};
  {
    const auto held = state::OpenState(*config_.state);
    ASSERT_TRUE(held.has_value());
    EXPECT_THAT(Checks()[0].detail, HasSubstr("the daemon runs"));
  }
  EXPECT_THAT(Checks()[0].detail, HasSubstr("can be used"));
  std::ofstream(folder_ / "tidemark.db") << "no database, whatever its name";
  EXPECT_THAT(Checks(), Contains(Check("state", CheckOutcome::kWarning)));
  EXPECT_TRUE(fs::exists(folder_ / "tidemark.db")) << "it is serve that puts it aside";
}

TEST_F(DaemonDoctorTest, AFileWhereAFolderIsWantedIsNoState) {
  std::ofstream(folder_ / "file") << "";
  config_.state = state::StateOptions{.path = folder_ / "file", .url = {}};
  EXPECT_THAT(Checks(), Contains(Check("state", CheckOutcome::kFailed)));
}

TEST_F(DaemonDoctorTest, APortIsFreeTakenOrTheDaemonsOwn) {
  auto other = http::Server::Start({}, http::Router());
  ASSERT_TRUE(other.has_value());
  config_.http.emplace().port = (*other)->port();
  EXPECT_THAT(Checks(), Contains(Check("listen", CheckOutcome::kWarning)));
  config_.state = state::StateOptions{.path = folder_, .url = {}};
  {
    const auto held = state::OpenState(*config_.state);
    EXPECT_THAT(Checks(), Each(Field(&DoctorCheck::outcome, CheckOutcome::kOk)));
  }
  other->reset();
  EXPECT_THAT(Checks(), Each(Field(&DoctorCheck::outcome, CheckOutcome::kOk)));
}

TEST_F(DaemonDoctorTest, FilesThatAreMissingAreNamed) {
  config_.http.emplace().port = 0;
  config_.http->bearer_tokens_file = folder_ / "tokens";
  config_.http->tls = http::TlsFiles{folder_ / "cert.pem", folder_ / "key.pem"};
  const auto checks = Checks();
  EXPECT_THAT(checks, Contains(Check("tokens", CheckOutcome::kFailed)));
  EXPECT_THAT(checks, Contains(Check("listen", CheckOutcome::kFailed)));
  for (const DoctorCheck& check : checks) {
    const bool has_failed = check.outcome == CheckOutcome::kFailed;
    EXPECT_EQ(check.cure.empty(), !has_failed) << check.name;
  }
}

}  // namespace
}  // namespace tidemark::app
