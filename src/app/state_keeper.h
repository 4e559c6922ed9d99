/// Keeps what looks teach in the state store, behind the watch's back: a slow or dead database
/// delays no look.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/watch.h"
#include "base/clock.h"
#include "base/error.h"
#include "state/state_store.h"

namespace tidemark::app {

/// Samples, and incidents, that wait for a database that does not answer; older ones are dropped
/// over it, and that is logged.
inline constexpr size_t kSamplesWaitingMax = 100'000;

/// How long readers wait for the database, and for whoever is using it.
inline constexpr Milliseconds kReadMax = std::chrono::seconds(5);
/// How long the end of the process waits for it.
inline constexpr Milliseconds kLastWriteMax = std::chrono::seconds(2);

/// Opens and closes incidents as the status of pipelines changes. Values only.
class IncidentBook {
 public:
  explicit IncidentBook(std::vector<state::Incident> open);

  /// What `report` changes: up to one incident that closes, and one that opens. One whose status
  /// changes closes, and another opens.
  std::vector<state::Incident> Note(const freshness::PipelineReport& report);

  /// Incidents of pipelines that are not among `pipelines`, closed at `now`.
  std::vector<state::Incident> KeepOnly(const std::vector<std::string>& pipelines, WallTime now);

  /// Of pipelines that this process takes over: incidents that go on. Newest first.
  void Adopt(const std::vector<state::Incident>& open);
  /// Of pipelines that it hands over: those that were open, which it forgets.
  std::vector<state::Incident> Release(const std::set<std::string>& pipelines);

 private:
  std::map<std::string, state::Incident, std::less<>> open_;
};

/// What becomes of the incidents of a pipeline that another process takes over.
enum class AtRelease {
  kLeaveOpen,  ///< both use one database: the other one goes on with them
  kClose,
};

/// Writes about once a second from a thread of its own; what could not be written is tried again.
/// Of a kill, the last second is lost.
class StateKeeper {
 public:
  /// What was loaded goes to the watch; warns of what could not be read.
  static Result<std::unique_ptr<StateKeeper>> Open(const state::StateOptions& options,
                                                   const Clock& clock);

  StateKeeper(std::unique_ptr<state::StateStore> store, state::StateStore::Loaded loaded,
              std::vector<state::Incident> open, const Clock& clock,
              const state::Retention& retention = {});
  /// Writes what is left, as far as the database takes it within kLastWriteMax; takes about twice
  /// as long at most.
  ~StateKeeper();

  StateKeeper(const StateKeeper&) = delete;
  StateKeeper& operator=(const StateKeeper&) = delete;

  /// What earlier processes knew, for the watch.
  const std::vector<Remembered>& remembered() const { return remembered_; }
  /// Incidents that an earlier process left open.
  const std::vector<state::Incident>& left_open() const { return left_open_; }

  /// Never waits for the database. From the watch's thread.
  void Note(const Look& look);
  /// Forgets all pipelines but these. Any thread.
  void KeepOnly(std::vector<std::string> pipelines);

  /// From here on only pipelines that were adopted are this process' own, and only they are kept.
  /// Before looks come.
  void OwnNothing();
  /// What is kept of these, read anew, and their open incidents; waits for the database as
  /// History() does. From here on they are this process' own, also after an error.
  struct Adopted {
    std::vector<Remembered> remembered;
    std::vector<state::Incident> open;
  };
  Result<Adopted> Adopt(const std::set<std::string>& pipelines);
  /// Another process is about to take these over: writes what there is, waiting at most `limit`,
  /// and forgets the rest, so that nothing late overwrites what the other one writes. Not while
  /// looks at them are being noted; later ones are left out.
  void Release(const std::set<std::string>& pipelines, AtRelease incidents, Milliseconds limit);

  /// Any thread; wait for the database, at most about kReadMax twice: then kUnavailable.
  Result<std::vector<state::HistoryPoint>> History(std::string_view pipeline, WallTime from,
                                                   WallTime to);
  Result<std::vector<state::Incident>> Incidents(std::string_view pipeline, size_t limit);

 private:
  struct Waiting {
    std::map<std::string, state::PipelineState> pipelines;
    std::vector<state::Incident> incidents;
    std::deque<state::Sample> samples;
    std::vector<std::string> kept;
    bool has_kept = false;
  };

  /// The last decided report of a pipeline.
  struct LastGood {
    std::string table;
    std::optional<WallTime> at;
    std::string report;
  };

  void Run(const std::stop_token& stop);
  Status Write(const Waiting& work, const Budget& budget);
  /// For whoever waits for the database as long as the process lives.
  Budget UnlessGivenUp() const;
  /// The store for one reader, within kReadMax.
  Result<std::unique_lock<std::timed_mutex>> ReadStore();
  void PutBack(Waiting work);
  void DropForeign();
  void RollUp();

  const Clock& clock_;
  const state::Retention retention_;
  std::vector<Remembered> remembered_;
  const std::vector<state::Incident> left_open_;
  std::mutex book_mutex_;
  std::map<std::string, LastGood> last_good_;  // guarded by book_mutex_
  IncidentBook book_;                          // guarded by book_mutex_

  std::timed_mutex store_mutex_;
  std::stop_source give_up_;  ///< ends what waits for the database
  std::unique_ptr<state::StateStore> store_;

  std::mutex waiting_mutex_;
  std::condition_variable_any has_waiting_;
  std::condition_variable written_;
  // Guarded by waiting_mutex_.
  Waiting waiting_;
  std::optional<std::set<std::string>> own_;  // nullopt: every pipeline
  bool is_hurried_ = false;
  bool has_ended_ = false;
  uint64_t rounds_begun_ = 0;
  uint64_t rounds_ended_ = 0;

  size_t dropped_ = 0;
  MonoTime rolled_up_at_{};
  bool is_failing_ = false;

  std::jthread thread_;
};

}  // namespace tidemark::app
